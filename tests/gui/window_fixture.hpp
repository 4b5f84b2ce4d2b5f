#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QTest>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/timeline/draw_rows.hpp"
#include "gui/window/main_window.hpp"

namespace interlace::gui {

inline constexpr int kPatienceMs = 120'000;
inline const std::filesystem::path kTraces = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces";
inline const std::vector<std::filesystem::path> kBase = {kTraces / "torchrec_c6/base.r0.json.gz",
                                                         kTraces / "torchrec_c6/base.r1.json.gz"};

/// The middle of an operation that is in sight, from the corner of its pane.
inline QPoint point_of(const TimelinePane& pane, trace::OperationId op) {
  const QRectF plot = areas_of(QRectF(pane.rect())).plot;
  for (const PlacedBox& placed : boxes_in_sight(pane.content(), plot.height())) {
    if (placed.operation == op) return pixels_of(placed.box, placed.top, placed.height, plot).center();
  }
  ADD_FAILURE() << "not in sight";
  return {};
}

/// The widest kernel that lies wholly in sight.
inline trace::OperationId widest_kernel(const TimelinePane& pane) {
  const QRectF plot = areas_of(QRectF(pane.rect())).plot;
  std::optional<PlacedBox> widest;
  for (const PlacedBox& placed : boxes_in_sight(pane.content(), plot.height() - 40)) {
    const bool kernel = pane.run()->trace().kind(placed.operation) == trace::OperationKind::kKernel;
    if (!kernel || placed.box.left < 0 || placed.box.right > plot.width() - 20 || placed.top < 0) continue;
    if (!widest || placed.box.right - placed.box.left > widest->box.right - widest->box.left) widest = placed;
  }
  return widest.value().operation;
}

/// The real window, shown, with the keyboard.
class WindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1920, 1080);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    // An X server without a window manager gives the keyboard to nobody who does not ask, and only after a while.
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  }
  void settle() {
    ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.session().busy(); }, kPatienceMs));
    QCoreApplication::processEvents();
  }
  void open(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& schedules = {}) {
    window_.open(files, schedules);
    settle();
  }
  [[nodiscard]] TimelinePane& pane(Side side) const { return window_.timelines().pane(side); }
  void key(const QString& keys) {
    window_.timelines().setFocus();
    QTest::keySequence(&window_.timelines(), QKeySequence(keys));
  }
  /// Keeps a picture of the window in the folder that INTERLACE_SCREENSHOTS names; those in README.md are made so.
  void screenshot(const QString& name) {
    QCoreApplication::processEvents();
    const QString folder = qEnvironmentVariable("INTERLACE_SCREENSHOTS");
    if (folder.isEmpty()) return;
    EXPECT_TRUE(window_.grab().save(folder + "/" + name + ".png"));
  }

  MainWindow window_;
};

}  // namespace interlace::gui
