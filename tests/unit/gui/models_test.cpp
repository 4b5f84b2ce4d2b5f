#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QMimeData>
#include <memory>

#include "gui/models/csv.hpp"
#include "gui/models/diagnostics_model.hpp"
#include "gui/models/draft_model.hpp"
#include "gui/models/facts_model.hpp"
#include "gui/models/predictions_model.hpp"
#include "gui/models/range_model.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

/// Follows a model through all its changes, and makes what it finds fail the test.
class Watched {
 public:
  explicit Watched(QAbstractItemModel& model)
      : tester_(&model, QAbstractItemModelTester::FailureReportingMode::Fatal) {}

 private:
  QAbstractItemModelTester tester_;
};

report::RecordedRun recorded() {
  report::RecordedRun run;
  run.schedule = "torchrec/base";
  run.step_time_ns = 37'450'000;
  run.host_blocked_ns = 28'200'000;
  run.overlap.emplace();
  return run;
}

report::Prediction prediction(const std::string& schedule, Nanoseconds step) {
  report::Prediction of;
  of.schedule = schedule;
  of.step_time_ns = step;
  of.step_time_low_ns = step - 1'000'000;
  of.step_time_high_ns = step + 1'000'000;
  of.speedup = 1.25;
  of.reasons = {"exposes 2.5 ms less communication"};
  return of;
}

QString text(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

TEST(PredictionsModel, ShowsTheRecordingAndWhatIsPredicted) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  model.add(prediction("torchrec/staged", 30'000'000));
  model.add(prediction("mine", 31'500'000));
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(text(model, 0, PredictionsModel::kSchedule), "measured (torchrec/base)");
  EXPECT_EQ(text(model, 0, PredictionsModel::kStep), "37.45");
  EXPECT_EQ(text(model, 0, PredictionsModel::kSpeedup), "");
  EXPECT_EQ(text(model, 0, PredictionsModel::kHostBlocked), "28.20");
  EXPECT_EQ(text(model, 2, PredictionsModel::kStep), "31.50");
  EXPECT_EQ(text(model, 2, PredictionsModel::kInterval), "30.50 - 32.50");
  EXPECT_EQ(text(model, 1, PredictionsModel::kSpeedup), "1.250x");
  EXPECT_EQ(model.index(1, PredictionsModel::kStep).data(Qt::UserRole).toDouble(), 30.0);
  EXPECT_TRUE(model.index(1, 0).data(Qt::ToolTipRole).toString().contains("2.5 ms less"));
  EXPECT_EQ(model.prediction(0), nullptr);
  EXPECT_EQ(model.prediction(2)->schedule, "mine");
}

TEST(PredictionsModel, TellsWhatSpeedUpsAreOver) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  model.add(prediction("torchrec/staged", 30'000'000));
  model.set_replayed(37'500'000);  // 1.25 times as long
  EXPECT_EQ(text(model, 0, PredictionsModel::kSchedule), "measured (torchrec/base), 37.50 ms replayed");
  EXPECT_EQ(text(model, 0, PredictionsModel::kStep), "37.45") << "as it was measured";
}

TEST(PredictionsModel, SaysWhichLinesAreOfAnEarlierDraft) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  model.add(prediction("mine/a", 30'000'000));
  model.set_outdated("mine/a");
  EXPECT_EQ(text(model, 1, PredictionsModel::kSchedule), "mine/a (before the last edit)");
  EXPECT_EQ(model.row_of("mine/a"), std::optional(1));
  model.add(prediction("mine/a", 29'000'000));
  EXPECT_EQ(text(model, 1, PredictionsModel::kSchedule), "mine/a");
}

TEST(PredictionsModel, TellsStepsOfMicroseconds) {
  PredictionsModel model;
  report::RecordedRun run = recorded();
  run.step_time_ns = 18'400;
  model.set_recorded(run);
  EXPECT_EQ(text(model, 0, PredictionsModel::kStep), "0.018");
}

TEST(PredictionsModel, ShowsTheRecordedPeaksWhereTheyAreKnown) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  model.add(prediction("mine", 30'000'000));
  EXPECT_FALSE(model.has_numbers(PredictionsModel::kAllocated));
  // Of two ranks the one with more; what is reserved is known of neither.
  model.set_recorded(recorded(), {{.rank = {0}, .allocated_peak = Bytes{1} << 30, .streams = {}, .settings = {}},
                                  {.rank = {1}, .allocated_peak = Bytes{3} << 29, .streams = {}, .settings = {}}});
  EXPECT_EQ(text(model, 0, PredictionsModel::kAllocated), "1.50");
  EXPECT_EQ(text(model, 0, PredictionsModel::kReserved), "");
  EXPECT_TRUE(model.has_numbers(PredictionsModel::kAllocated));
  EXPECT_FALSE(model.has_numbers(PredictionsModel::kReserved));
}

TEST(PredictionsModel, APredictionAgainReplacesItsLine) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  model.add(prediction("mine", 30'000'000));
  model.add(prediction("mine", 29'000'000));
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(text(model, 1, PredictionsModel::kStep), "29.00");
  model.set_recorded(recorded());
  EXPECT_EQ(model.rowCount(), 1);
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(PredictionsModel, KnownHazardsAreToldBesideTheOthers) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  report::Prediction known = prediction("known", 30'000'000);
  known.known_hazards = {"free_before_last_use of output"};
  model.add(known);
  report::Prediction both = known;
  both.schedule = "both";
  both.hazards = {"a read before the write"};
  model.add(both);
  model.add(prediction("sound", 31'000'000));
  EXPECT_EQ(text(model, 0, PredictionsModel::kHazards), "");
  EXPECT_EQ(text(model, 1, PredictionsModel::kHazards), "1 known");
  EXPECT_EQ(text(model, 2, PredictionsModel::kHazards), "1, 1 known");
  EXPECT_EQ(text(model, 3, PredictionsModel::kHazards), "");
  const QString tip = model.index(2, PredictionsModel::kHazards).data(Qt::ToolTipRole).toString();
  EXPECT_EQ(tip, "• a read before the write\n• known hazard: free_before_last_use of output");
  EXPECT_EQ(model.index(1, PredictionsModel::kHazards).data(Qt::UserRole).toInt(), 0) << "sorted behind what races";
}

TEST(PredictionsModel, TheFastestWithoutAHazardIsBold) {
  PredictionsModel model;
  const Watched watched(model);
  model.set_recorded(recorded());
  model.add(prediction("sound", 30'000'000));
  const auto bold = [&model](int row) { return model.index(row, 0).data(Qt::FontRole).isValid(); };
  EXPECT_FALSE(bold(1)) << "there is no other";
  report::Prediction racing = prediction("racing", 20'000'000);
  racing.hazards = {"a read before the write"};
  model.add(racing);
  model.add(prediction("slow", 40'000'000));
  EXPECT_TRUE(bold(1));
  EXPECT_FALSE(bold(2));
  EXPECT_FALSE(bold(3));
  model.remove("sound");
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(text(model, 1, PredictionsModel::kSchedule), "racing");
  EXPECT_TRUE(bold(2));
  model.remove("no such one");
  EXPECT_EQ(model.rowCount(), 3);
}

TEST(Csv, QuotesWhatNeedsIt) {
  FactsModel model;
  const Watched watched(model);
  model.set({{"name", "f(a, \"b\")"}, {"duration", "3 ns"}});
  EXPECT_EQ(csv_of(model), "1,2\r\nname,\"f(a, \"\"b\"\")\"\r\nduration,3 ns\r\n");
}

TEST(FactsModel, AShortenedTextIsWholeInTipsAndCopies) {
  FactsModel model;
  const Watched watched(model);
  const QString whole = QStringLiteral("k<") + QString(300, u'a') + u'>';
  model.set({{"name", "k<aaa...>", whole}});
  EXPECT_EQ(text(model, 0, 1), "k<aaa...>");
  const QString tip = model.index(0, 1).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(tip.contains("k&lt;aa") && tip.contains("<br>")) << tip.toStdString();
  EXPECT_EQ(csv_of(model), "1,2\r\nname," + whole + "\r\n");
}

TEST(RangeModel, TotalsComeFirst) {
  SmallTrace small;
  const auto stream = small.stream(7);
  small.kernel(stream, "a", 0, 100);
  small.kernel(stream, "b", 100, 400);
  small.kernel(stream, "b", 400, 500);
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  RangeModel model;
  const Watched watched(model);
  model.set(trace, measure(trace, lanes, std::vector<RowIndex>{0}, {0, 500}));
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(text(model, 0, RangeModel::kCount), "3");
  EXPECT_EQ(text(model, 0, RangeModel::kSum), "500 ns");
  EXPECT_EQ(text(model, 1, RangeModel::kName), "b");
  EXPECT_EQ(text(model, 1, RangeModel::kShortest), "100 ns");
  EXPECT_EQ(text(model, 1, RangeModel::kAverage), "200 ns");
  EXPECT_EQ(text(model, 1, RangeModel::kLongest), "300 ns");
  EXPECT_FALSE(text(model, 0, RangeModel::kName).contains("partly"));
  // From the middle of the first b: it counts whole.
  model.set(trace, measure(trace, lanes, std::vector<RowIndex>{0}, {200, 500}));
  EXPECT_EQ(text(model, 0, RangeModel::kSum), "400 ns");
  EXPECT_TRUE(text(model, 0, RangeModel::kName).endsWith("; 1 of them only partly in it, counted whole"))
      << text(model, 0, RangeModel::kName).toStdString();
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(DiagnosticsModel, ShowsTheGravestFirst) {
  DiagnosticsModel model;
  const Watched watched(model);
  model.set({{"a.info", Severity::kInfo, "repaired", "nothing", 3, "x"},
             {"a.loss", Severity::kDataLoss, "lost", "record again", 1, "y"}});
  EXPECT_EQ(text(model, 0, DiagnosticsModel::kCode), "a.loss");
  EXPECT_EQ(text(model, 1, DiagnosticsModel::kCount), "3");
}

TEST(DiagnosticsModel, CountsWhatMattersOnly) {
  DiagnosticsModel model;
  model.set({{"a.info", Severity::kInfo, "repaired", "nothing", 3, "x"}});
  EXPECT_EQ(model.grave(), "");
  model.set({{"a.info", Severity::kInfo, "repaired", "nothing", 3, "x"},
             {"a.loss", Severity::kDataLoss, "lost", "record again", 7, "y"},
             {"a.warning", Severity::kWarning, "odd", "see", 1, "y"},
             {"b.warning", Severity::kWarning, "odd", "see", 1, "y"}});
  EXPECT_EQ(model.grave(), "1 data loss, 2 warnings");
}

TEST(DraftModel, EditsCellsAndRefusesWhatMakesNoSense) {
  DraftModel model(Draft(schedule::find("torchrec/sparse_dist")));
  const Watched watched(model);
  int edits = 0;
  QObject::connect(&model, &DraftModel::edited, &model, [&edits] { ++edits; });
  EXPECT_EQ(text(model, 0, DraftModel::kStep), "zero_grad");
  EXPECT_EQ(text(model, 2, DraftModel::kWaitsFor), "memcpy");
  EXPECT_EQ(text(model, 6, DraftModel::kStep), "    input_dist_finish");
  EXPECT_FALSE(model.index(0, DraftModel::kStep).flags().testFlag(Qt::ItemIsEditable));
  EXPECT_FALSE(model.index(5, DraftModel::kStream).flags().testFlag(Qt::ItemIsEditable)) << "of a for_each";
  EXPECT_TRUE(model.setData(model.index(0, DraftModel::kStream), "memcpy"));
  EXPECT_FALSE(model.setData(model.index(0, DraftModel::kStream), "nowhere"));
  EXPECT_TRUE(model.setData(model.index(2, DraftModel::kWaitsFor), " memcpy , main "));
  EXPECT_EQ(text(model, 2, DraftModel::kWaitsFor), "memcpy, main");
  EXPECT_TRUE(model.setData(model.index(2, DraftModel::kWaitsFor), ""));
  EXPECT_TRUE(model.setData(model.index(0, DraftModel::kBatch), 1));
  EXPECT_EQ(edits, 4);
  EXPECT_TRUE(model.undo());
  EXPECT_EQ(text(model, 0, DraftModel::kBatch), "0");
  EXPECT_TRUE(model.redo());
  EXPECT_FALSE(model.redo());
}

TEST(DraftModel, RowsAreReorderedByDragging) {
  DraftModel model(Draft(schedule::find("torchrec/sparse_dist")));
  const Watched watched(model);
  std::optional<int> touched;
  QObject::connect(&model, &DraftModel::edited, &model, [&touched](std::optional<int> row) { touched = row; });
  const std::unique_ptr<QMimeData> dragged(model.mimeData({model.index(13, DraftModel::kStep)}));
  EXPECT_EQ(text(model, 13, DraftModel::kStep), "backward");
  EXPECT_TRUE(model.dropMimeData(dragged.get(), Qt::MoveAction, 11, 0, {}));
  EXPECT_EQ(text(model, 11, DraftModel::kStep), "backward");
  EXPECT_EQ(touched, std::optional(11));
  EXPECT_TRUE(model.remove_row(11));
  EXPECT_EQ(model.rowCount(), 14);
}

TEST(DraftModel, ShowsTheWorstOfALineUntilItIsEdited) {
  DraftModel model(Draft(schedule::find("torchrec/sparse_dist")));
  const Watched watched(model);
  auto verdict = std::make_shared<Verdict>();
  verdict->remarks = {{Gravity::kHint, 2, "not needed"}, {Gravity::kHazard, 2, "races"}};
  model.set_verdict(verdict);
  EXPECT_EQ(text(model, 1, DraftModel::kFinding), "races");
  EXPECT_EQ(model.index(1, 0).data(DraftModel::kGravityRole).toInt(), static_cast<int>(Gravity::kHazard));
  EXPECT_TRUE(model.index(1, 0).data(Qt::ToolTipRole).toString().contains("not needed"));
  EXPECT_EQ(text(model, 0, DraftModel::kFinding), "");
  EXPECT_TRUE(model.remove_row(5));
  EXPECT_EQ(text(model, 1, DraftModel::kFinding), "");
}

}  // namespace
}  // namespace interlace::gui
