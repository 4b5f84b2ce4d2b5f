#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>
#include <functional>
#include <vector>

namespace interlace::gui {

class ComparePanel;

/// Something that keys do on the timelines. Menus and the help list are made of the same table.
struct KeyAction {
  QString group;
  QString text;
  QList<QKeySequence> keys;
  std::function<void()> run;
};

/// All keys that need nothing but the timelines.
[[nodiscard]] std::vector<KeyAction> timeline_actions(ComparePanel& panel);

}  // namespace interlace::gui
