// Edits schedules in the real window: what races is told on the spot, and every edit is predicted.
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTimer>
#include <QWindow>
#include <fstream>
#include <iterator>

#include "gui/session/save_schedule.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/gui/window_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class EditorTest : public WindowTest {
 protected:
  void begin(const std::string& schedule) {
    window_.edit(schedule);
    settle();
  }
  [[nodiscard]] ScheduleEditor& editor() const { return window_.editor(); }
  [[nodiscard]] DraftModel& model() const { return window_.editor().model(); }
  /// From the top.
  [[nodiscard]] int row_of(const QString& step, int from = 0) const {
    for (int row = from; row < model().rowCount(); ++row) {
      if (model().index(row, DraftModel::kStep).data().toString().trimmed() == step) return row;
    }
    ADD_FAILURE() << "no step " << step.toStdString();
    return 0;
  }
  void choose(int row) { editor().table().setCurrentIndex(model().index(row, DraftModel::kStep)); }
  void press(const QString& keys) {
    editor().table().setFocus();
    QTest::keySequence(&editor().table(), QKeySequence(keys));
    settle();
  }
  [[nodiscard]] Nanoseconds predicted_step() const { return window_.timelines().forecasts().back()->row.step_time_ns; }
  void expect_hazard_on(int row) const {
    const QVariant gravity = model().index(row, 0).data(DraftModel::kGravityRole);
    EXPECT_TRUE(gravity.isValid() && gravity.toInt() == static_cast<int>(Gravity::kHazard)) << "line " << row + 1;
  }
};

TEST_F(EditorTest, AWaitEditedAwayIsARaceOnTheSpotAndPredictedAllTheSame) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  EXPECT_EQ(editor().schedule().name, "mine/sparse_dist");
  EXPECT_TRUE(editor().verdict_text().startsWith("free of races"));
  ASSERT_EQ(window_.timelines().forecasts().size(), 2U);
  const Nanoseconds before = predicted_step();
  EXPECT_EQ(before, window_.timelines().forecasts().front()->row.step_time_ns) << "nothing has been changed yet";

  const int wait = row_of("wait", row_of("for each module"));
  choose(wait);
  press("Del");
  expect_hazard_on(row_of("embedding_lookup"));
  EXPECT_TRUE(editor().verdict_text().contains("race")) << editor().verdict_text().toStdString();
  ASSERT_GT(editor().findings().count(), 0);
  EXPECT_TRUE(editor().findings().item(0)->text().contains("input_dist_finish"));
  EXPECT_FALSE(window_.timelines().forecasts().back()->row.hazards.empty());
  EXPECT_TRUE(editor().forecast_text().contains("ms a step"));
  screenshot("editor");

  press("Ctrl+Z");
  EXPECT_TRUE(editor().verdict_text().startsWith("free of races"));
  EXPECT_EQ(predicted_step(), before);
  EXPECT_FALSE(editor().unsaved());
}

TEST_F(EditorTest, RepairAddsTheWaitThatIsMissing) {
  begin("torchrec/sparse_dist");
  choose(row_of("wait", row_of("for each module")));
  press("Del");
  ASSERT_TRUE(model().repair());
  settle();
  EXPECT_TRUE(editor().verdict_text().startsWith("free of races"));
}

TEST_F(EditorTest, AStreamIsChosenInPlaceAndTheStepTimeFollows) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  const Nanoseconds before = predicted_step();
  const QModelIndex cell = model().index(row_of("copy_batch_to_gpu"), DraftModel::kStream);
  editor().table().setCurrentIndex(cell);
  editor().table().edit(cell);
  auto* box = editor().table().viewport()->findChild<QComboBox*>();
  ASSERT_NE(box, nullptr);
  box->setCurrentText("main");
  QTest::keyClick(box, Qt::Key_Return);
  ASSERT_TRUE(QTest::qWaitFor([&] { return cell.data().toString() == "main"; })) << "delegates commit a little later";
  settle();
  // The copy takes its turn among the kernels: it hides nothing any more.
  EXPECT_GT(predicted_step(), before + 1'000'000);
  EXPECT_EQ(window_.predictions().rowCount(), 3) << "the draft keeps its line";
}

TEST_F(EditorTest, AStreamChosenFromTheListIsTakenAtOnce) {
  begin("torchrec/sparse_dist");
  const QModelIndex cell = model().index(row_of("copy_batch_to_gpu"), DraftModel::kStream);
  editor().table().setCurrentIndex(cell);
  editor().table().edit(cell);
  QPointer<QComboBox> box = editor().table().viewport()->findChild<QComboBox*>();
  ASSERT_TRUE(box);
  EXPECT_GE(box->width(), box->sizeHint().width()) << "wide enough for its longest name";
  box->setCurrentText("main");
  Q_EMIT box->activated(box->currentIndex());  // as a click in its list does
  ASSERT_TRUE(QTest::qWaitFor([&] { return cell.data().toString() == "main"; }, 3000)) << "without a further Return";
  EXPECT_TRUE(QTest::qWaitFor([&] { return !box; }, 3000)) << "and the list is gone";
  settle();
}

TEST_F(EditorTest, WhatIsBeingEditedIsAskedForBeforeTheWindowCloses) {
  begin("torchrec/sparse_dist");
  const QModelIndex cell = model().index(row_of("backward"), DraftModel::kBatch);
  editor().table().setCurrentIndex(cell);
  editor().table().edit(cell);
  auto* number = editor().table().viewport()->findChild<QSpinBox*>();
  ASSERT_NE(number, nullptr);
  number->setValue(cell.data().toInt() + 1);
  ASSERT_FALSE(editor().unsaved()) << "it is not the draft's yet";
  bool asked = false;
  QTimer::singleShot(0, [&asked] {
    auto* asks = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (asks == nullptr) return;
    asked = true;
    asks->button(QMessageBox::Cancel)->click();
  });
  EXPECT_FALSE(window_.close());
  EXPECT_TRUE(asked);
  EXPECT_TRUE(editor().unsaved());
  editor().mark_saved();
  settle();
}

TEST_F(EditorTest, RowsMoveByKeysAndWhatCannotRunIsToldNotPredicted) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  choose(row_of("backward"));
  press("Alt+Up");
  EXPECT_EQ(row_of("backward") + 1, row_of("input_dist_wait"));
  const Nanoseconds before = predicted_step();
  press("Alt+Up");
  EXPECT_EQ(row_of("backward") + 1, row_of("dense_forward"));
  EXPECT_EQ(editor().table().currentIndex().row(), row_of("backward")) << "the moved row stays chosen";
  EXPECT_TRUE(editor().verdict_text().contains("cannot run"));
  EXPECT_TRUE(pane(Side::kPredicted).content().title.endsWith(" (before the last edit)"));
  EXPECT_EQ(editor().forecast_text(), "");
  EXPECT_EQ(predicted_step(), before) << "the last one that could run";
  const auto* tabs = window_.timelines().findChild<QTabBar*>();
  EXPECT_EQ(tabs->tabText(1), "mine/sparse_dist (before the last edit)");
  press("Alt+Down");
  EXPECT_EQ(tabs->tabText(1), "mine/sparse_dist");
  EXPECT_EQ(row_of("backward"), row_of("dense_forward") + 1);
}

TEST_F(EditorTest, KeysMoveALineThroughEveryPlaceOfAForEachAndAForEachAsAWhole) {
  begin("torchrec/sparse_dist");
  const auto lines = [this] {
    QStringList all;  // those inside are indented
    for (int row = 0; row < model().rowCount(); ++row) {
      all << model().index(row, DraftModel::kStep).data().toString() + " " +
                 model().index(row, DraftModel::kStream).data().toString();
    }
    return all;
  };
  const QStringList before = lines();
  const int group = row_of("for each module");
  constexpr int kSteps = 4;
  const int behind = group + kSteps + 1;
  const QString moved = before[behind];
  choose(behind);
  // As the last of its steps, then above each of these, then above all.
  for (int up = 0; up < kSteps + 2; ++up) {
    press("Alt+Up");
    const int row = up == 0 ? behind : behind - up;
    const bool inside = up <= kSteps;
    EXPECT_EQ(lines()[row], (inside ? "    " : "") + moved) << up << "\n" << lines().join(u'\n').toStdString();
    EXPECT_EQ(editor().table().currentIndex().row(), row);
  }
  for (int down = 0; down < kSteps + 2; ++down) press("Alt+Down");
  EXPECT_EQ(lines(), before) << "down it goes through the same places";

  choose(group);
  press("Alt+Down");
  QStringList past = before;
  past.move(behind, group);
  EXPECT_EQ(lines(), past) << "with its steps, past the line behind them";
  press("Alt+Up");
  EXPECT_EQ(lines(), before);
  press("Alt+Up");
  past = before;
  past.move(group - 1, behind - 1);
  EXPECT_EQ(lines(), past);
  choose(0);
  press("Alt+Up");
  EXPECT_EQ(lines(), past) << "there is nothing above";
}

TEST_F(EditorTest, RowsAreDraggedByTheMouse) {
  if (QGuiApplication::platformName() == "offscreen") GTEST_SKIP() << "drags nothing; under Xvfb this runs";
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  QWidget* rows = editor().table().viewport();
  const auto place_of = [&](int row) { return editor().table().visualRect(model().index(row, DraftModel::kStep)); };
  const int from = row_of("backward");
  const int above = row_of("input_dist_wait");
  ASSERT_EQ(above, from - 1);
  QWindow* window = window_.windowHandle();
  const auto in_window = [&](QPoint at) { return rows->mapTo(&window_, at); };
  const QPoint begin = in_window(place_of(from).center());
  // Onto the border above the line: there the drop indicator shows that it goes between the two.
  const QPoint end = in_window(place_of(above).topLeft() + QPoint(20, 0));
  // Dragging runs a loop of its own in the press and the first moves: the rest of the movement comes from timers.
  QTimer::singleShot(300, window, [=] { QTest::mouseMove(window, end + QPoint(0, 3)); });
  QTimer::singleShot(400, window, [=] { QTest::mouseMove(window, end); });
  QTimer::singleShot(600, window, [=] { QTest::mouseRelease(window, Qt::LeftButton, {}, end); });
  QTest::mousePress(window, Qt::LeftButton, {}, begin);
  for (int moved = 4; moved <= 24; moved += 4) QTest::mouseMove(window, begin - QPoint(0, moved));
  ASSERT_TRUE(QTest::qWaitFor([&] { return row_of("backward") == above; }, 3000));
  settle();
  EXPECT_EQ(row_of("input_dist_wait"), from);
  EXPECT_EQ(editor().table().currentIndex().row(), above);
  EXPECT_TRUE(editor().forecast_text().contains("ms a step")) << "and it is predicted";
  press("Ctrl+Z");
  EXPECT_EQ(row_of("backward"), from);
}

TEST_F(EditorTest, WorksWithoutARecording) {
  begin("torchrec/staged");
  EXPECT_EQ(editor().schedule().name, "mine/staged");
  EXPECT_TRUE(editor().verdict_text().startsWith("free of races"));
  EXPECT_EQ(window_.failure_dialog(), nullptr);
}

TEST_F(EditorTest, OfAnotherRecordingNothingStaysAndItIsTriedWhenShownAgain) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  ASSERT_FALSE(editor().verdict_text().isEmpty());
  const QString of_first = editor().forecast_text();
  ASSERT_TRUE(of_first.contains("ms a step"));
  auto* dock = qobject_cast<QDockWidget*>(editor().parentWidget());
  ASSERT_NE(dock, nullptr);
  dock->toggleViewAction()->trigger();
  ASSERT_FALSE(editor().isVisible());
  open({kTraces / "engine_t6/base/rank0.ilt"});
  EXPECT_EQ(editor().forecast_text(), "");
  EXPECT_EQ(editor().verdict_text(), "");
  dock->toggleViewAction()->trigger();
  settle();
  EXPECT_TRUE(editor().verdict_text().startsWith("free of races"));
  EXPECT_FALSE(editor().forecast_text().isEmpty());
  EXPECT_NE(editor().forecast_text(), of_first);
}

TEST_F(EditorTest, IsPlainlyGreenOnlyWhereTheNumbersAreThoseOfASynchronousLoop) {
  const auto colour = [&] { return editor().findChild<QLabel*>("verdict")->palette().color(QPalette::WindowText); };
  begin("torchrec/staged");
  EXPECT_EQ(colour(), theme(ThemeKind::kLight).good);
  ASSERT_TRUE(model().move_row(row_of("optimizer_step"), row_of("backward")));
  settle();
  EXPECT_TRUE(editor().verdict_text().contains("numbers differ from a synchronous loop"));
  EXPECT_EQ(colour(), theme(ThemeKind::kLight).text);
  EXPECT_TRUE(editor().findings().item(0)->text().startsWith("numbers: "));
  screenshot("numbers_differ");
  editor().mark_saved();  // so that nobody asks
  begin("torchrec/fused_sparse_dist");
  EXPECT_TRUE(editor().verdict_text().contains("1 known hazard"));
  EXPECT_EQ(colour(), theme(ThemeKind::kLight).text);
  screenshot("known_hazard");
}

TEST_F(EditorTest, SavesAFileThatCanBeReadAndRefusesWhatCannotRun) {
  const testing::TemporaryFolder folder;
  begin("torchrec/sparse_dist");
  ASSERT_TRUE(model().add_wait(row_of("dense_forward"), "main", "memcpy"));
  settle();
  EXPECT_TRUE(editor().unsaved());
  window_.save_draft(folder.path() / "mine.json");
  EXPECT_FALSE(editor().unsaved());
  EXPECT_EQ(schedule::parse_file(folder.path() / "mine.json"), [&] {
    schedule::Schedule saved = editor().schedule();
    saved.source = (folder.path() / "mine.json").string();
    return saved;
  }());
  // The engine's tests run this one.
  EXPECT_EQ(text_of(folder.path() / "mine.json"),
            text_of(std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/schedules/edited/in_the_window.json"));
  ASSERT_TRUE(model().move_row(row_of("backward"), 0));
  window_.save_draft(folder.path() / "broken.json");
  ASSERT_NE(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("gui.schedule_cannot_run"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "broken.json"));
  window_.failure_dialog()->button(QMessageBox::Ok)->click();
  QTest::qWait(10);
  model().undo();
  window_.save_draft(folder.path() / "no/such/folder/mine.json");
  ASSERT_NE(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("gui.cannot_write_schedule"));
}

TEST_F(EditorTest, ASavedDraftsFileStandsBesideTheDraftThatHasChangedSince) {
  const testing::TemporaryFolder folder;
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  const auto file = folder.path() / "saved.json";
  window_.save_draft(file);
  ASSERT_TRUE(model().setData(model().index(row_of("copy_batch_to_gpu"), DraftModel::kStream), "main"));
  settle();
  const Nanoseconds of_draft = predicted_step();
  window_.predict(file.string());
  settle();
  const auto& forecasts = window_.timelines().forecasts();
  ASSERT_EQ(forecasts.size(), 3U);
  EXPECT_EQ(forecasts[1]->schedule, editor().schedule());
  EXPECT_EQ(forecasts[1]->row.step_time_ns, of_draft);
  EXPECT_EQ(forecasts[2]->schedule.name, "mine/sparse_dist+saved");
  EXPECT_EQ(forecasts[2]->row.step_time_ns, forecasts[0]->row.step_time_ns);

  auto* name = editor().findChild<QLineEdit*>();
  ASSERT_NE(name, nullptr);
  const auto rename = [&](const QString& to) {
    name->setText(to);
    Q_EMIT name->editingFinished();
    settle();
    return editor().schedule().name;
  };
  EXPECT_EQ(rename("mine/sparse_dist+saved"), "mine/sparse_dist") << "its prediction would take the other's place";
  EXPECT_EQ(rename("mine/other"), "mine/other");
  EXPECT_EQ(forecasts.size(), 4U);
}

TEST_F(EditorTest, WhatWasCancelledIsNotTakenForWhatTheDraftSaysNow) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  ASSERT_TRUE(model().setData(model().index(row_of("copy_batch_to_gpu"), DraftModel::kStream), "main"));
  window_.session().cancel();
  EXPECT_EQ(editor().verdict_text(), "not checked: cancelled");
  const auto* tabs = window_.timelines().findChild<QTabBar*>();
  EXPECT_EQ(tabs->tabText(1), "mine/sparse_dist (before the last edit)");
  const testing::TemporaryFolder folder;
  window_.write_report(folder.path() / "report.csv");
  settle();
  EXPECT_NE(text_of(folder.path() / "report.csv").find("mine/sparse_dist (before the last edit)"), std::string::npos);
  press("Ctrl+Z");
  EXPECT_TRUE(editor().verdict_text().startsWith("free of races"));
  EXPECT_EQ(tabs->tabText(1), "mine/sparse_dist");
}

// With one rank exchanges order nothing: what the lookup's own stream reads races with the side that writes it.
TEST_F(EditorTest, SavesTheHazardsOfTheJobThatWasRecorded) {
  const testing::TemporaryFolder folder;
  const auto saved_as_hazardous = [&](const std::vector<std::filesystem::path>& recording) {
    open(recording);
    begin("torchrec/fused_sparse_dist_new_stream");
    const auto file = folder.path() / "mine.json";
    window_.save_draft(file);
    return schedule::parse_file(file).hazardous;
  };
  EXPECT_FALSE(saved_as_hazardous(kBase));
  EXPECT_TRUE(saved_as_hazardous({kTraces / "torchrec_w1_1_rank/base.mem.r0.ilt"}));
}

TEST_F(EditorTest, OfManyEditsTheLastIsShown) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  const int copy = row_of("copy_batch_to_gpu");
  for (int edits = 0; edits < 9; ++edits) {
    ASSERT_TRUE(model().setData(model().index(copy, DraftModel::kStream), edits % 2 == 0 ? "main" : "memcpy"));
  }
  settle();
  const ForecastPtr last = window_.timelines().forecasts().back();
  EXPECT_EQ(last->schedule, editor().schedule());
  EXPECT_EQ(model().index(copy, DraftModel::kStream).data().toString(), "main");
}

}  // namespace
}  // namespace interlace::gui
