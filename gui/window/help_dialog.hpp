#pragma once

#include <QDialog>
#include <vector>

#include "gui/window/actions.hpp"

namespace interlace::gui {

/// The keys, and what the mouse does.
class HelpDialog : public QDialog {
  Q_OBJECT

 public:
  explicit HelpDialog(const std::vector<KeyAction>& actions, QWidget* parent = nullptr);
};

}  // namespace interlace::gui
