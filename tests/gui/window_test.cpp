// Drives the real window as a user does.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTabBar>
#include <QTest>
#include <QTimer>
#include <QToolBar>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "gui/models/csv.hpp"
#include "gui/panels/table_panel.hpp"
#include "gui/window/help_dialog.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "simulator/trace/trace_builder.hpp"
#include "tests/gui/window_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
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

TEST_F(WindowTest, ExportsRowsThatAreScrolledAway) {
  window_.resize(1280, 800);
  open(kBase, {"torchrec/sparse_dist"});
  for (const char* keys : {"E", "Down", "Down"}) key(keys);
  ASSERT_GT(pane(Side::kMeasured).content().scroll, 0);
  const Picture picture = window_.timelines().picture();
  ASSERT_EQ(picture.panes.size(), 2U);
  for (const PicturePane& shown : picture.panes) {
    const double room = shown.height - kAbovePlot;
    EXPECT_EQ(rows_in_sight(shown.content, room).size(), shown.content.placement->rows.size());
    EXPECT_GE(room, shown.content.placement->height);
  }
}

TEST_F(WindowTest, NotesAreThereAgainWhenTheRecordingIsOpenedAgain) {
  const testing::TemporaryFolder folder;
  const auto copy = folder.path() / "base.r0.json.gz";
  std::filesystem::copy_file(kBase[0], copy);
  open({copy});
  const trace::OperationId kernel = widest_kernel(pane(Side::kMeasured));
  QTest::mouseClick(&pane(Side::kMeasured), Qt::LeftButton, {}, point_of(pane(Side::kMeasured), kernel));
  QTimer::singleShot(0, [] {
    auto* asks = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(asks, nullptr);
    asks->setTextValue("slow here");
    asks->accept();
  });
  key("T");
  window_.activateWindow();  // as a window manager does when a dialog has gone
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  const Mark expected{pane(Side::kMeasured).run()->trace().start(kernel), "slow here"};
  EXPECT_EQ(window_.timelines().marks(Side::kMeasured), std::vector{expected});
  open({copy});
  EXPECT_EQ(window_.timelines().marks(Side::kMeasured), std::vector{expected});
  QTest::mouseClick(&pane(Side::kMeasured), Qt::LeftButton, {}, point_of(pane(Side::kMeasured), kernel));
  key("M");  // takes it away, and with the last one the file
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "base.r0.json.gz.notes.json"));
}

TEST_F(WindowTest, AFolderIsOpenedFromTheMenuAndAgainWithNotesInIt) {
  const testing::TemporaryFolder folder;
  for (const std::filesystem::path& file : kBase) {
    std::filesystem::copy_file(file, folder.path() / file.filename());
  }
  const auto actions = window_.findChildren<QAction*>("open_folder");
  ASSERT_EQ(actions.size(), 1);
  for (std::size_t marks = 0; marks < 2; ++marks) {
    QTimer::singleShot(0, [&folder] {
      auto* asks = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(asks, nullptr);
      asks->findChild<QLineEdit*>("fileNameEdit")->setText(QString::fromStdString(folder.path().string()));
      ASSERT_TRUE(QMetaObject::invokeMethod(asks, "accept"));
    });
    actions.front()->trigger();
    settle();
    ASSERT_EQ(window_.failure_dialog(), nullptr);
    EXPECT_EQ(pane(Side::kMeasured).run()->trace().ranks().size(), kBase.size());
    EXPECT_EQ(window_.timelines().marks(Side::kMeasured).size(), marks);
    window_.activateWindow();  // as a window manager does when a dialog has gone
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
    if (marks == 0) key("M");
  }
}

TEST_F(WindowTest, TheDialogOpensAllRanksAtOnce) {
  QTimer::singleShot(0, [] {
    auto* asks = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(asks, nullptr);
    QStringList files;
    for (const std::filesystem::path& file : kBase) files << '"' + QString::fromStdString(file.string()) + '"';
    asks->findChild<QLineEdit*>("fileNameEdit")->setText(files.join(' '));
    ASSERT_TRUE(QMetaObject::invokeMethod(asks, "accept"));
  });
  key("Ctrl+O");
  settle();
  ASSERT_TRUE(pane(Side::kMeasured).run());
  EXPECT_EQ(pane(Side::kMeasured).run()->trace().ranks().size(), kBase.size());
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
  table->copy();
  EXPECT_EQ(QApplication::clipboard()->text().toStdString(), read(folder.path() / "table.csv"));
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

TEST_F(WindowTest, ClickSelectsAndShowsDetailsAndArrows) {
  open(kBase);
  TimelinePane& measured = pane(Side::kMeasured);
  const trace::OperationId kernel = widest_kernel(measured);
  QTest::mouseClick(&measured, Qt::LeftButton, {}, point_of(measured, kernel));
  ASSERT_EQ(measured.selected(), std::optional(kernel));
  const QModelIndex name = window_.details().index(0, 1);
  const QVariant whole = name.data(kWholeTextRole).isValid() ? name.data(kWholeTextRole) : name.data();
  EXPECT_EQ(whole.toString().toStdString(), measured.run()->trace().name(kernel));
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

TEST_F(WindowTest, ANameOfHundredsOfLettersIsShortened) {
  const std::string mangled = "_ZN2at6native" + std::string(500, 'I') + "EEvT_";
  trace::TraceBuilder builder;
  const trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  const trace::LaneId stream = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  builder.add_kernel({stream, builder.intern(mangled), 0, 1000, {}}, {});
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "long.ilt";
  Diagnostics counted;
  trace::write_ilt(std::move(builder).build(counted), file);
  open({file});
  TimelinePane& measured = pane(Side::kMeasured);
  ASSERT_TRUE(measured.run());
  const trace::OperationId kernel{0};
  const int width = window_.width();
  Q_EMIT measured.hovered(kernel);
  QCoreApplication::processEvents();
  EXPECT_EQ(window_.width(), width);
  EXPECT_LE(window_.minimumSizeHint().width(), width);
  Q_EMIT measured.select_wanted(kernel);
  const QModelIndex name = window_.details().index(0, 1);
  EXPECT_LT(name.data().toString().size(), 110);
  EXPECT_TRUE(name.data().toString().startsWith("_ZN2at6native"));
  EXPECT_EQ(name.data(kWholeTextRole).toString().toStdString(), mangled);
  screenshot("long_name");
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

TEST_F(WindowTest, PicturesAndReportsNeedARecording) {
  const auto action = [&](const QString& text) {
    for (QAction* one : window_.findChildren<QAction*>()) {
      if (one->text() == text) return one;
    }
    throw std::out_of_range(text.toStdString());
  };
  EXPECT_FALSE(action("Export picture...")->isEnabled());
  EXPECT_FALSE(action("Write report...")->isEnabled());
  open(kBase);
  EXPECT_TRUE(action("Export picture...")->isEnabled());
  EXPECT_TRUE(action("Write report...")->isEnabled());
}

TEST_F(WindowTest, AWrongPatternIsToldBeforeARecordingIsOpenToo) {
  window_.search("(");
  EXPECT_TRUE(window_.findChild<QLabel*>("hits")->toolTip().startsWith("no regular expression"));
  open(kBase);
  EXPECT_EQ(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.timelines().hit_text().isEmpty());
  window_.search("sendrecv");
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
  QColor edge = theme(ThemeKind::kLight).range;
  edge.setAlpha(255);
  const QImage seen = measured.grab().toImage();
  const int y = static_cast<int>(areas_of(QRectF(measured.rect())).plot.top()) + 5;
  int of_length = 0;
  for (int x = 0; x < seen.width(); ++x) of_length += seen.pixelColor(x, y) == edge ? 1 : 0;
  EXPECT_GT(of_length, 20) << "how long it is stands above the bar of the rank";
  ASSERT_EQ(window_.range().rowCount(), 2);  // all, and the one name
  EXPECT_EQ(window_.range().index(0, RangeModel::kCount).data().toInt(), 1);
  for (const auto column : {RangeModel::kSum, RangeModel::kShortest, RangeModel::kAverage, RangeModel::kLongest}) {
    EXPECT_EQ(window_.range().index(1, column).data(Qt::UserRole).toLongLong(), trace.duration(kernel));
  }
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

TEST_F(WindowTest, AFileThatIsCalledAsABuiltInStandsBesideIt) {
  const testing::TemporaryFolder folder;
  schedule::Schedule mine = schedule::find("torchrec/base");
  mine.name = "torchrec/staged";
  const auto file = folder.write("my own.json", schedule::print(mine));
  open(kBase, {"torchrec/staged", file.string()});
  const auto& forecasts = window_.timelines().forecasts();
  ASSERT_EQ(forecasts.size(), 2U);
  EXPECT_EQ(forecasts[0]->row.schedule, "torchrec/staged");
  EXPECT_EQ(forecasts[1]->row.schedule, "torchrec/staged+my_own");
  EXPECT_NE(forecasts[0]->row.step_time_ns, forecasts[1]->row.step_time_ns);
  window_.predict(file.string());
  settle();
  EXPECT_EQ(forecasts.size(), 2U) << "the same file again is the same prediction";
}

TEST_F(WindowTest, AClosedTabTakesItsLineAlong) {
  open(kBase, {"torchrec/sparse_dist", "torchrec/staged"});
  EXPECT_EQ(window_.predictions().rowCount(), 3);
  auto* tabs = window_.timelines().findChild<QTabBar*>();
  Q_EMIT tabs->tabCloseRequested(0);
  EXPECT_EQ(window_.predictions().rowCount(), 2);
  EXPECT_EQ(window_.predictions().prediction(1)->schedule, "torchrec/staged");
  Q_EMIT tabs->tabCloseRequested(0);
  EXPECT_EQ(window_.predictions().rowCount(), 1);
  EXPECT_EQ(window_.timelines().shown_forecast(), -1);
}

TEST_F(WindowTest, KeysSearchMarkColourAndHelp) {
  open(kBase);
  key("/");
  auto* field = window_.findChild<QLineEdit*>("search");
  ASSERT_EQ(QApplication::focusWidget(), field);
  QTest::keyClicks(field, "sendrecv.*");
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_TRUE(window_.timelines().hit_text().startsWith("1 of "));
  EXPECT_EQ(QApplication::focusWidget(), &window_.timelines()) << "letters are commands again";
  key("M");
  ASSERT_EQ(window_.timelines().marks(Side::kMeasured).size(), 1U);
  key("M");
  EXPECT_TRUE(window_.timelines().marks(Side::kMeasured).empty());
  const QImage by_stage = pane(Side::kMeasured).grab().toImage();
  key("C");
  EXPECT_NE(pane(Side::kMeasured).grab().toImage(), by_stage);
  key("?");
  QTest::qWait(10);
  const auto* help = window_.findChild<HelpDialog*>();
  ASSERT_NE(help, nullptr);
  const auto columns = help->findChildren<QLabel*>();
  const auto tells = [&](const QString& keys) {
    return std::ranges::any_of(columns, [&](const QLabel* column) { return column->text().contains(keys); });
  };
  EXPECT_TRUE(tells("<b>W, +, =</b>")) << "three keys, not a chord: rich text shows spaces as one";
}

TEST_F(WindowTest, ANarrowWindowIsSearchedToo) {
  window_.resize(1024, 700);
  open(kBase);
  auto* field = window_.findChild<QLineEdit*>("search");
  for (const char* keys : {"/", "Ctrl+F"}) {
    key(keys);
    ASSERT_EQ(QApplication::focusWidget(), field) << keys;
    EXPECT_TRUE(field->isVisible() && window_.rect().contains(field->mapTo(&window_, field->rect().bottomRight())));
    QTest::keyClick(field, Qt::Key_Escape);
    EXPECT_EQ(QApplication::focusWidget(), &window_.timelines()) << "letters are commands again";
  }
  const int width = field->width();
  window_.search("(");
  QCoreApplication::processEvents();
  EXPECT_EQ(field->width(), width);
  EXPECT_TRUE(window_.findChild<QLabel*>("hits")->toolTip().startsWith("no regular expression"));
  screenshot("narrow");
}

TEST_F(WindowTest, AWindowOf1280HasAllTools) {
  window_.resize(1280, 800);
  open(kBase);
  const auto* bar = window_.findChild<QToolBar*>();
  ASSERT_NE(bar, nullptr);
  EXPECT_GT(bar->actions().size(), 10);
  for (QAction* action : bar->actions()) {
    EXPECT_TRUE(bar->widgetForAction(action)->isVisible()) << action->text().toStdString() << " is behind the arrow";
  }
}

TEST_F(WindowTest, AScheduleFromAFileIsInTheList) {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("mine.json", schedule::print(schedule::find("torchrec/staged")));
  open(kBase);
  auto* list = window_.findChild<QComboBox*>("schedules");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->count(), static_cast<int>(schedule::library().size()) + 2);
  QTimer::singleShot(0, [&file] {
    auto* asks = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(asks, nullptr);
    asks->findChild<QLineEdit*>("fileNameEdit")->setText(QString::fromStdString(file.string()));
    ASSERT_TRUE(QMetaObject::invokeMethod(asks, "accept"));
  });
  Q_EMIT list->activated(list->count() - 1);
  settle();
  EXPECT_EQ(list->currentIndex(), 0);
  ASSERT_EQ(window_.timelines().forecasts().size(), 1U);
  EXPECT_EQ(window_.timelines().forecasts()[0]->row.schedule, "torchrec/staged");
}

TEST_F(WindowTest, AllLeavesOutWhatDoesNotApplyAndSaysSoInALine) {
  open(kBase, {"all"});  // as the button does
  EXPECT_EQ(window_.failure_dialog(), nullptr);
  const QString text = window_.findChild<QLabel*>("left_out")->text();
  EXPECT_TRUE(text.contains(" do not apply: ")) << text.toStdString();
  EXPECT_FALSE(text.contains("--"));
  const int predicted = window_.predictions().rowCount() - 1;
  EXPECT_GT(predicted, 3);
  EXPECT_EQ(predicted + text.count('/'), static_cast<int>(schedule::all_sound().size())) << "each is told of";
  screenshot("all");
}

TEST_F(WindowTest, WithoutStagesNothingIsOfferedToPredict) {
  const auto* all = window_.findChild<QAction*>("predict_all");
  ASSERT_NE(all, nullptr);
  EXPECT_FALSE(all->isEnabled()) << "nothing is open";
  open({kTraces / "hta/simple_add"}, {"all"});
  EXPECT_FALSE(all->isEnabled());
  EXPECT_EQ(window_.failure_dialog(), nullptr);
  open(kBase);
  EXPECT_TRUE(all->isEnabled());
  window_.predict("torchrec/prefetch_sparse_dist");  // by name it is told why not, without options of a command line
  settle();
  ASSERT_NE(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("replay.stage_not_recorded"));
  EXPECT_FALSE(window_.failure_dialog()->informativeText().contains("--"));
}

TEST_F(WindowTest, MarksAndRangesGoWithThePredictionThatTheyAreOf) {
  open(kBase, {"torchrec/sparse_dist", "torchrec/staged"});
  TimelinePane& predicted = pane(Side::kPredicted);
  const trace::OperationId kernel = widest_kernel(predicted);
  QTest::mouseClick(&predicted, Qt::LeftButton, {}, point_of(predicted, kernel));
  key("M");
  ASSERT_EQ(predicted.content().marks.size(), 1U);
  const trace::Trace& trace = predicted.run()->trace();
  Q_EMIT predicted.range_wanted(MeasuredRange{{trace.start(kernel), trace.end(kernel)}, {0}});
  EXPECT_GT(window_.range().rowCount(), 0);
  window_.timelines().show_forecast(0);
  EXPECT_TRUE(predicted.content().marks.empty());
  EXPECT_TRUE(window_.timelines().marks(Side::kPredicted).empty());
  EXPECT_EQ(window_.range().rowCount(), 0);
  window_.timelines().show_forecast(1);
  EXPECT_EQ(predicted.content().marks.size(), 1U) << "it is there again with its prediction";
}

TEST_F(WindowTest, HelpListsTheKeys) {
  window_.show_help();
  QTest::qWait(10);
  auto* help = window_.findChild<QDialog*>();
  ASSERT_NE(help, nullptr);
  EXPECT_LE(help->width(), 1000) << "fits onto small screens";
  const QString folder = qEnvironmentVariable("INTERLACE_SCREENSHOTS");
  if (folder.isEmpty()) return;
  EXPECT_TRUE(help->grab().save(folder + "/help.png"));
}

}  // namespace
}  // namespace interlace::gui
