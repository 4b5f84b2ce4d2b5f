// Drives the real window as a user does.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>
#include <QUrl>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gui/compare/alignment.hpp"
#include "gui/panels/table_panel.hpp"
#include "gui/timeline/draw_rows.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"
#include "tests/gui/window_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The middle of an operation that is in sight, from the corner of its pane.
QPoint point_of(const TimelinePane& pane, trace::OperationId op) {
  const QRectF plot = areas_of(QRectF(pane.rect())).plot;
  for (const PlacedBox& placed : boxes_in_sight(pane.content(), plot.height())) {
    if (placed.operation == op) return pixels_of(placed.box, placed.top, placed.height, plot).center();
  }
  ADD_FAILURE() << "not in sight";
  return {};
}
/// The widest kernel that lies wholly in sight.
trace::OperationId widest_kernel(const TimelinePane& pane) {
  const QRectF plot = areas_of(QRectF(pane.rect())).plot;
  std::optional<PlacedBox> widest;
  for (const PlacedBox& placed : boxes_in_sight(pane.content(), plot.height() - 40)) {
    const bool kernel = pane.run()->trace().kind(placed.operation) == trace::OperationKind::kKernel;
    if (!kernel || placed.box.left < 0 || placed.box.right > plot.width() - 20 || placed.top < 0) continue;
    if (!widest || placed.box.right - placed.box.left > widest->box.right - widest->box.left) widest = placed;
  }
  return widest.value().operation;
}

TEST_F(WindowTest, OpensPredictsExportsAndCloses) {
  open(kBase, {"torchrec/sparse_dist", "torchrec/staged", "torchrec/fused_sparse_dist"});
  EXPECT_EQ(window_.failure_dialog(), nullptr);
  EXPECT_EQ(window_.predictions().rowCount(), 4);  // the recording and three schedules
  ASSERT_EQ(window_.timelines().forecasts().size(), 3U);
  EXPECT_EQ(window_.timelines().shown_forecast(), 2);
  EXPECT_GT(window_.diagnostics().rowCount(), 0);

  std::vector<QImage> pictures;
  for (int tab = 0; tab < 3; ++tab) {
    window_.timelines().show_forecast(tab);
    EXPECT_EQ(pane(Side::kPredicted).run(), window_.timelines().forecasts()[static_cast<std::size_t>(tab)]->run);
    pictures.push_back(pane(Side::kPredicted).grab().toImage());
  }
  EXPECT_NE(pictures[0], pictures[1]);
  EXPECT_NE(pictures[1], pictures[2]);
  EXPECT_NE(pictures[0], pictures[2]);

  screenshot("window");

  const testing::TemporaryFolder folder;
  for (const char* name : {"view.png", "view.svg", "view.pdf"}) {
    window_.export_picture(folder.path() / name);
    EXPECT_GT(std::filesystem::file_size(folder.path() / name), 5000U) << name;
  }
  EXPECT_TRUE(window_.close());
}

TEST_F(WindowTest, NotesAreThereAgainWhenTheRecordingIsOpenedAgain) {
  const testing::TemporaryFolder folder;
  const auto copy = folder.path() / "base.r0.json.gz";
  std::filesystem::copy_file(kBase[0], copy);
  open({copy});
  const trace::OperationId kernel = widest_kernel(pane(Side::kMeasured));
  QTest::mouseClick(&pane(Side::kMeasured), Qt::LeftButton, {}, point_of(pane(Side::kMeasured), kernel));
  window_.note("slow here");
  const Mark expected{pane(Side::kMeasured).run()->trace().start(kernel), "slow here"};
  EXPECT_EQ(window_.timelines().marks(Side::kMeasured), std::vector{expected});
  open({copy});
  EXPECT_EQ(window_.timelines().marks(Side::kMeasured), std::vector{expected});
  QTest::mouseClick(&pane(Side::kMeasured), Qt::LeftButton, {}, point_of(pane(Side::kMeasured), kernel));
  key("M");  // takes it away, and with the last one the file
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "base.r0.json.gz.notes.json"));
}

TEST_F(WindowTest, WritesReportsAndTables) {
  open(kBase, {"torchrec/sparse_dist", "torchrec/staged"});
  const testing::TemporaryFolder folder;
  for (const char* name : {"report.html", "report.json", "report.csv"}) {
    window_.write_report(folder.path() / name);
    settle();
    EXPECT_EQ(window_.failure_dialog(), nullptr);
    EXPECT_GT(std::filesystem::file_size(folder.path() / name), 500U) << name;
  }
  const std::string html = read(folder.path() / "report.html");
  EXPECT_NE(html.find("torchrec/staged"), std::string::npos);
  EXPECT_NE(html.find("<svg"), std::string::npos) << "with timelines";
  const auto* table = window_.findChildren<TablePanel*>().front();
  table->save(folder.path() / "table.csv");
  EXPECT_NE(read(folder.path() / "table.csv").find("torchrec/staged"), std::string::npos);
  EXPECT_THROW(table->save(folder.path() / "no/such/folder/table.csv"), Error);
  window_.write_report(folder.path() / "report.docx");
  settle();
  ASSERT_NE(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("gui.unknown_report_format"));
}

TEST_F(WindowTest, TheTabOfTheFirstPredictionIsSeen) {
  open(kBase, {"torchrec/sparse_dist"});
  const auto* tabs = window_.timelines().findChild<QTabBar*>();
  ASSERT_NE(tabs, nullptr);
  EXPECT_EQ(tabs->count(), 1);
  EXPECT_GE(tabs->height(), tabs->tabRect(0).height());
  EXPECT_GT(tabs->height(), 10);
}

TEST_F(WindowTest, PanesAreAlignedAndMoveTogetherUntilUnlinked) {
  open(kBase, {"torchrec/sparse_dist"});
  const auto views = [this] { return window_.timelines().views(); };
  EXPECT_EQ(pane(Side::kMeasured).plot_width(), pane(Side::kPredicted).plot_width());
  const Viewport before = views().view(Side::kMeasured);
  key("W");
  EXPECT_LT(views().view(Side::kMeasured).ns_per_px, before.ns_per_px);
  EXPECT_EQ(views().view(Side::kMeasured), views().view(Side::kPredicted));
  key("D");
  EXPECT_EQ(views().view(Side::kMeasured), views().view(Side::kPredicted));
  key("Z");
  key("L");
  EXPECT_FALSE(views().linked());
  const Viewport measured = views().view(Side::kMeasured);
  QTest::mousePress(&pane(Side::kPredicted), Qt::LeftButton, {}, QPoint(600, 100));
  QTest::mouseRelease(&pane(Side::kPredicted), Qt::LeftButton, {}, QPoint(600, 100));
  key("W");
  EXPECT_EQ(views().view(Side::kMeasured), measured);
  EXPECT_NE(views().view(Side::kPredicted), measured);
}

TEST_F(WindowTest, AlignedByBatchBothShowItsFirstWorkAtZero) {
  open(kBase, {"torchrec/sparse_dist"});
  key("B");
  EXPECT_EQ(window_.timelines().aligned_by(), AlignBy::kBatch);
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    // By another way than the panel's: over all device work of the first rank.
    const gui::Run& run = *pane(side).run();
    const auto batch = trained_batch(run, step_at(run.first_steps(), 0).value());
    std::optional<Nanoseconds> first;
    for (std::uint32_t i = 0; i < run.trace().size(); ++i) {
      const trace::OperationId op{i};
      const bool counts = trace::is_device_work(run.trace().kind(op)) && run.trace().rank_of(op).index() == 0;
      if (!counts || run.scene().tags().batch_of(op) != batch) continue;
      first = std::min(first.value_or(INT64_MAX), run.trace().start(op));
    }
    EXPECT_EQ(pane(side).content().anchor, first);
  }
  EXPECT_FALSE(window_.timelines().comparison().leads().empty());
  screenshot("by_batch");
  const Nanoseconds before = pane(Side::kPredicted).content().anchor;
  key("]");
  EXPECT_GT(pane(Side::kPredicted).content().anchor, before) << "the batch after";
  key("[");
  EXPECT_EQ(pane(Side::kPredicted).content().anchor, before);
  key("B");
  EXPECT_EQ(window_.timelines().aligned_by(), AlignBy::kStep);
  EXPECT_EQ(pane(Side::kMeasured).content().anchor,
            step_at(pane(Side::kMeasured).run()->first_steps(), 0).value().begin);
}

TEST_F(WindowTest, AlignedByWorkBothShowItAtZeroAlsoInTheNextPrediction) {
  open(kBase, {"torchrec/sparse_dist", "torchrec/staged"});
  TimelinePane& measured = pane(Side::kMeasured);
  const trace::OperationId kernel = widest_kernel(measured);
  QTest::mouseClick(&measured, Qt::LeftButton, {}, point_of(measured, kernel));
  key("Shift+L");
  EXPECT_EQ(window_.timelines().aligned_by(), AlignBy::kRange);
  EXPECT_EQ(measured.content().anchor, measured.run()->trace().start(kernel));
  for (const int tab : {1, 0}) {
    window_.timelines().show_forecast(tab);
    const auto same = window_.timelines().counterpart_of(Side::kMeasured, kernel);
    ASSERT_TRUE(same);
    EXPECT_EQ(pane(Side::kPredicted).content().anchor, pane(Side::kPredicted).run()->trace().start(*same));
  }
  // The work itself begins without lead; what the lane shows stands below the work of the measured pane.
  const auto& leads = window_.timelines().comparison().leads();
  const auto own = std::ranges::find(leads, kernel, &Lead::measured);
  ASSERT_NE(own, leads.end());
  EXPECT_EQ(own->at, measured.run()->trace().duration(kernel));
}

TEST_F(WindowTest, BesideEachOtherThePanesHaveOneScale) {
  open(kBase, {"torchrec/sparse_dist"});
  key("V");
  QTest::qWait(10);
  EXPECT_TRUE(window_.timelines().beside());
  const auto left = pane(Side::kMeasured).mapTo(&window_, QPoint(0, 0));
  const auto right = pane(Side::kPredicted).mapTo(&window_, QPoint(0, 0));
  EXPECT_GE(right.x(), left.x() + pane(Side::kMeasured).width());
  key("0");
  const Views& views = window_.timelines().views();
  EXPECT_EQ(views.view(Side::kMeasured).ns_per_px, views.view(Side::kPredicted).ns_per_px);
  EXPECT_EQ(views.view(Side::kMeasured).begin_ns, views.view(Side::kPredicted).begin_ns);
  EXPECT_EQ(views.view(Side::kPredicted).width, pane(Side::kPredicted).plot_width());
  screenshot("beside");
  key("V");
  QTest::qWait(10);
  EXPECT_FALSE(window_.timelines().beside());
}

TEST_F(WindowTest, ZoomsAreTakenBackOneByOne) {
  open(kBase, {"torchrec/sparse_dist"});
  const auto view = [this] { return window_.timelines().views().view(Side::kMeasured); };
  const Viewport first = view();
  key("W");
  const Viewport second = view();
  QTest::qWait(700);  // moves that follow closely count as one
  key("W");
  const Viewport third = view();
  EXPECT_NE(second, third);
  key("]");  // what is aligned is no move
  const Nanoseconds anchor = pane(Side::kMeasured).content().anchor;
  key("Z");
  EXPECT_EQ(view(), second);
  EXPECT_EQ(pane(Side::kMeasured).content().anchor, anchor);
  key("Z");
  EXPECT_EQ(view(), first);
  key("Shift+Z");
  EXPECT_EQ(view(), second);
}

TEST_F(WindowTest, WheelZoomsAtThePointerAndDragPans) {
  open(kBase);
  TimelinePane& measured = pane(Side::kMeasured);
  const QRectF plot = areas_of(QRectF(measured.rect())).plot;
  const double x = 700;
  const Nanoseconds under = measured.content().view.time_at(x);
  const QPointF at(plot.left() + x, plot.top() + 100);
  QWheelEvent turn(at, measured.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&measured, &turn);
  EXPECT_NEAR(static_cast<double>(measured.content().view.time_at(x)), static_cast<double>(under), 2);
  const Viewport before = measured.content().view;
  const QPoint from = at.toPoint();
  QTest::mousePress(&measured, Qt::LeftButton, {}, from);
  QTest::mouseMove(&measured, from + QPoint(30, 0));
  QTest::mouseMove(&measured, from + QPoint(60, 0));
  QTest::mouseRelease(&measured, Qt::LeftButton, {}, from + QPoint(60, 0));
  EXPECT_NEAR(measured.content().view.begin_ns, before.begin_ns - 60 * before.ns_per_px, 1);
}

TEST_F(WindowTest, ClickSelectsAndShowsDetailsAndArrows) {
  open(kBase);
  TimelinePane& measured = pane(Side::kMeasured);
  const trace::OperationId kernel = widest_kernel(measured);
  QTest::mouseClick(&measured, Qt::LeftButton, {}, point_of(measured, kernel));
  ASSERT_EQ(measured.selected(), std::optional(kernel));
  EXPECT_EQ(window_.details().index(0, 1).data().toString().toStdString(), measured.run()->trace().name(kernel));
  screenshot("selection");
  bool launch = false;
  for (const Dependency& arrow : measured.content().arrows) launch = launch || arrow.kind == DependencyKind::kLaunch;
  EXPECT_TRUE(launch);
  key("F");
  const Viewport view = measured.content().trace_view();
  EXPECT_GT(view.x_of(measured.run()->trace().start(kernel)), 0);
  EXPECT_GT(view.x_of(measured.run()->trace().end(kernel)) - view.x_of(measured.run()->trace().start(kernel)),
            view.width / 2);
  key(".");
  EXPECT_NE(measured.selected(), std::optional(kernel));
  key(",");
  EXPECT_EQ(measured.selected(), std::optional(kernel));
  key("Esc");
  EXPECT_EQ(measured.selected(), std::nullopt);
}

TEST_F(WindowTest, SearchGoesFromHitToHit) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.search("^nccl.*SendRecv");
  TimelinePane& measured = pane(Side::kMeasured);
  ASSERT_TRUE(window_.timelines().show_hit(true));
  const auto first = measured.selected();
  ASSERT_TRUE(first);
  EXPECT_TRUE(measured.run()->trace().name(*first).starts_with("nccl"));
  key("N");
  EXPECT_NE(measured.selected(), first);
  key("Shift+N");
  EXPECT_EQ(measured.selected(), first);
  EXPECT_TRUE(window_.timelines().hit_text().contains(" of "));
  window_.search("(");  // told beside the field: no dialog, and the hits stay
  EXPECT_EQ(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.timelines().show_hit(true));
}

TEST_F(WindowTest, RangeSnapsToTheEdgesOfAKernelAndCountsIt) {
  open(kBase);
  TimelinePane& measured = pane(Side::kMeasured);
  const trace::OperationId kernel = widest_kernel(measured);
  const QPoint middle = point_of(measured, kernel);
  const Viewport view = measured.content().trace_view();
  const double left = areas_of(QRectF(measured.rect())).plot.left();
  const trace::Trace& trace = measured.run()->trace();
  // A few pixels off on either side.
  const QPoint from(static_cast<int>(left + view.x_of(trace.start(kernel))) + 2, middle.y());
  const QPoint to(static_cast<int>(left + view.x_of(trace.end(kernel))) - 2, middle.y());
  QTest::mousePress(&measured, Qt::LeftButton, Qt::ShiftModifier, from);
  QTest::mouseMove(&measured, middle);
  QTest::mouseMove(&measured, to);
  QTest::mouseRelease(&measured, Qt::LeftButton, Qt::ShiftModifier, to);
  ASSERT_TRUE(measured.range());
  EXPECT_EQ(measured.range()->span, (Interval{trace.start(kernel), trace.end(kernel)}));
  screenshot("range");
  ASSERT_EQ(window_.range().rowCount(), 2);  // all, and the one name
  EXPECT_EQ(window_.range().index(0, RangeModel::kCount).data().toInt(), 1);
}

TEST_F(WindowTest, ThemeAndColoursChangeWhatIsSeen) {
  open(kBase);
  const QImage light = pane(Side::kMeasured).grab().toImage();
  window_.set_theme(ThemeKind::kDark);
  const QImage dark = pane(Side::kMeasured).grab().toImage();
  EXPECT_NE(light, dark);
  screenshot("dark");
  window_.set_colour_by(ColourBy::kKind);
  EXPECT_NE(pane(Side::kMeasured).grab().toImage(), dark);
  window_.set_theme(ThemeKind::kLight);
}

TEST_F(WindowTest, AFileOfOnesOwnIsPredictedLikeABuiltInOne) {
  const testing::TemporaryFolder folder;
  schedule::Schedule mine = schedule::find("torchrec/staged");
  mine.name = "mine/staged";
  const auto file = folder.write("mine.json", schedule::print(mine));
  open(kBase, {"torchrec/staged", file.string()});
  ASSERT_EQ(window_.timelines().forecasts().size(), 2U);
  EXPECT_EQ(window_.timelines().forecasts()[0]->row.step_time_ns, window_.timelines().forecasts()[1]->row.step_time_ns);
  EXPECT_EQ(window_.timelines().forecasts()[1]->row.schedule, "mine/staged");
}

TEST_F(WindowTest, OpensWhatIsDropped) {
  QMimeData dropped;
  dropped.setUrls({QUrl::fromLocalFile(QString::fromStdString(kBase[0].string())),
                   QUrl::fromLocalFile(QString::fromStdString(kBase[1].string()))});
  QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window_, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent event(QPointF(100, 100), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window_, &event);
  settle();
  ASSERT_NE(window_.session().recorded(), nullptr);
  EXPECT_EQ(window_.session().recorded()->run->trace().ranks().size(), 2U);
}

TEST_F(WindowTest, BadFilesAreToldAndTheWindowLivesOn) {
  open(kBase);
  const RecordedPtr good = window_.session().recorded();
  const testing::TemporaryFolder folder;
  const auto truncated = folder.write("truncated.json", "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1");
  const auto empty = folder.write("empty.json", "");
  const auto wrong = folder.write("wrong.json", "\x89PNG");
  const auto locked = folder.write("locked.json", "{\"traceEvents\": []}");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  const auto cut_off = folder.path() / "cut_off.json.gz";
  std::filesystem::copy_file(kBase[0], cut_off);
  std::filesystem::resize_file(cut_off, std::filesystem::file_size(cut_off) / 2);
  // 64 GiB of nothing, which take no room on the disk.
  const auto huge = folder.write("huge.json", "");
  std::filesystem::resize_file(huge, std::uintmax_t{64} << 30U);
  const std::vector<std::filesystem::path> bad = {truncated, empty,   wrong, folder.path() / "missing.json",
                                                  locked,    cut_off, huge};
  // Not all machines refuse memory that they do not have.
  constexpr rlim_t kMostMemory = rlim_t{32} << 30U;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limited{std::min(kMostMemory, before.rlim_max), before.rlim_max};
  for (const auto& file : bad) {
    ASSERT_EQ(setrlimit(RLIMIT_AS, file == huge ? &limited : &before), 0);
    open({file});
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    QMessageBox* dialog = window_.failure_dialog();
    ASSERT_NE(dialog, nullptr) << file;
    EXPECT_TRUE(dialog->informativeText().contains(QString::fromStdString(file.filename().string()))) << file;
    dialog->button(QMessageBox::Ok)->click();
    QTest::qWait(10);  // deletes itself
    EXPECT_EQ(window_.session().recorded(), good) << "what was open stays open";
  }
  window_.predict("no/such/schedule");
  ASSERT_NE(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("schedule.no_such_schedule"));
  window_.failure_dialog()->button(QMessageBox::Ok)->click();
  QTest::qWait(10);
  open({kTraces / "hta/simple_add"}, {"torchrec/base"});
  EXPECT_NE(window_.session().recorded(), good);
  ASSERT_NE(window_.failure_dialog(), nullptr) << "a trace without stages cannot be predicted";
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("gui.cannot_predict"));
}

TEST_F(WindowTest, CancelDropsWhatIsUnderWay) {
  QSignalSpy opened(&window_.session(), &Session::opened);
  window_.open(kBase);
  window_.session().cancel();
  settle();
  EXPECT_EQ(opened.count(), 0);
  open(kBase);
  EXPECT_EQ(opened.count(), 1);
}

TEST_F(WindowTest, HelpListsTheKeys) {
  window_.show_help();
  QTest::qWait(10);
  auto* help = window_.findChild<QDialog*>();
  ASSERT_NE(help, nullptr);
  const QString folder = qEnvironmentVariable("INTERLACE_SCREENSHOTS");
  if (folder.isEmpty()) return;
  EXPECT_TRUE(help->grab().save(folder + "/help.png"));
}

}  // namespace
}  // namespace interlace::gui
