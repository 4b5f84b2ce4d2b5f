// Which files are opened, and how: good ones, bad ones, and ones given up.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QAction>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/gui/window_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

/// Root may read everything: while this lives the process is somebody else.
class Nobody {
 public:
  Nobody() {
    constexpr uid_t kNobody = 65'534;
    changed_ = geteuid() == 0 && seteuid(kNobody) == 0;
  }
  ~Nobody() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

 private:
  bool changed_ = false;
};

TEST_F(WindowTest, AFileThatMayNotBeReadIsToldAndTheWindowLivesOn) {
  open(kBase);
  const RecordedPtr good = window_.session().recorded();
  const testing::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const auto locked = folder.path() / "locked.json.gz";
  std::filesystem::copy_file(kBase[0], locked);
  open({locked});
  ASSERT_EQ(window_.failure_dialog(), nullptr) << "the file itself is good";
  open(kBase);
  const RecordedPtr open_now = window_.session().recorded();
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  {
    const Nobody nobody;
    if (access(locked.c_str(), R_OK) == 0 && geteuid() == 0) GTEST_SKIP() << "root may read everything here";
    open({locked});
  }
  ASSERT_NE(window_.failure_dialog(), nullptr);
  const QString text = window_.failure_dialog()->informativeText();
  EXPECT_TRUE(text.contains("locked.json.gz")) << text.toStdString();
  EXPECT_TRUE(text.contains("ermission")) << text.toStdString();
  EXPECT_EQ(window_.session().recorded(), open_now);
  window_.failure_dialog()->button(QMessageBox::Ok)->click();
  QTest::qWait(10);
  window_.predict("torchrec/staged");
  settle();
  EXPECT_EQ(window_.timelines().forecasts().size(), 1U);
}

TEST_F(WindowTest, AnotherProfileOpensTheRecordingAnew) {
  open(kBase);
  ASSERT_TRUE(window_.session().recorded()->predictor);
  auto* menu = window_.findChild<QMenu*>(QStringLiteral("profiles"));
  ASSERT_NE(menu, nullptr);
  const auto choose = [&](int place) {
    Q_EMIT menu->aboutToShow();
    menu->actions().at(place)->trigger();
    settle();
  };
  choose(2);  // the engine's
  EXPECT_FALSE(window_.session().recorded()->predictor) << "the stages are TorchRec's";
  Q_EMIT menu->aboutToShow();
  EXPECT_TRUE(menu->actions().at(2)->isChecked());
  EXPECT_FALSE(menu->actions().at(0)->isChecked());
  choose(0);
  EXPECT_TRUE(window_.session().recorded()->predictor);
}

TEST_F(WindowTest, BadFilesAreToldAndTheWindowLivesOn) {
  open(kBase);
  const RecordedPtr good = window_.session().recorded();
  const testing::TemporaryFolder folder;
  const auto truncated = folder.write("truncated.json", "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1");
  const auto empty = folder.write("empty.json", "");
  const auto wrong = folder.write("wrong.json", "\x89PNG");
  const auto cut_off = folder.path() / "cut_off.json.gz";
  std::filesystem::copy_file(kBase[0], cut_off);
  std::filesystem::resize_file(cut_off, std::filesystem::file_size(cut_off) / 2);
  // 64 GiB of nothing, which take no room on the disk.
  const auto huge = folder.write("huge.json", "");
  std::filesystem::resize_file(huge, std::uintmax_t{64} << 30U);
  const std::vector<std::filesystem::path> bad = {truncated, empty, wrong, folder.path() / "missing.json",
                                                  cut_off,   huge};
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

TEST_F(WindowTest, ANoteThatCannotBeKeptIsToldAndTheWindowLivesOn) {
  const testing::TemporaryFolder folder;
  const auto long_name = folder.path() / (std::string(237, 'h') + ".json.gz");
  std::filesystem::copy_file(kBase[0], long_name);
  open({long_name});
  EXPECT_EQ(window_.failure_dialog(), nullptr) << "there are no notes, and that is no failure";
  window_.note("here");
  ASSERT_NE(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(window_.failure_dialog()->informativeText().contains("gui.cannot_write_notes"));
}

TEST_F(WindowTest, ARacySchedulesPredictionSaysSoFirst) {
  open(kBase, {"torchrec/sparse_dist"});
  EXPECT_TRUE(pane(Side::kPredicted).content().alarm.isEmpty());
  window_.predict(
      (std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/schedules/bugs/lookup_without_data_dist_edge.json")
          .string());
  settle();
  ASSERT_EQ(window_.failure_dialog(), nullptr);
  EXPECT_EQ(pane(Side::kPredicted).content().alarm, QStringLiteral("✗ 2 hazards"));
  const auto* tabs = window_.timelines().findChild<QTabBar*>();
  ASSERT_NE(tabs, nullptr);
  EXPECT_EQ(tabs->tabText(0), "sparse_dist");
  EXPECT_TRUE(tabs->tabText(1).startsWith("✗ ")) << tabs->tabText(1).toStdString();
  EXPECT_TRUE(tabs->tabToolTip(1).contains("✗ 2 hazards, whatever its time:\nread_before_write of kjt(i)"))
      << tabs->tabToolTip(1).toStdString();
  window_.predict("fused_sparse_dist");
  settle();
  EXPECT_EQ(tabs->tabText(2), "fused_sparse_dist") << "known hazards are not held against it";
  EXPECT_TRUE(tabs->tabToolTip(2).contains("known hazard: free_before_last_use")) << tabs->tabToolTip(2).toStdString();
  screenshot("racy");
}

TEST_F(WindowTest, LostDataIsSeenWithoutOpeningItsTable) {
  const auto* tabs = window_.findChild<QTabWidget*>();
  auto* button = window_.findChild<QToolButton*>("flaws");
  ASSERT_TRUE(tabs != nullptr && button != nullptr);
  constexpr int kQuality = 3;
  open(kBase);
  EXPECT_GT(window_.diagnostics().rowCount(), 0);
  EXPECT_FALSE(button->isVisible()) << "it is harmless";
  EXPECT_EQ(tabs->tabText(kQuality), "Data quality");
  EXPECT_TRUE(pane(Side::kMeasured).content().alarm.isEmpty());

  const testing::TemporaryFolder folder;
  const auto cut_off = folder.path() / "cut_off.ilt";
  std::filesystem::copy_file(kTraces / "engine_t6/base/rank0.ilt", cut_off);
  std::filesystem::resize_file(cut_off, std::filesystem::file_size(cut_off) - 3000);
  open({cut_off});
  ASSERT_EQ(window_.failure_dialog(), nullptr);
  EXPECT_TRUE(tabs->tabText(kQuality).startsWith("Data quality: ")) << tabs->tabText(kQuality).toStdString();
  EXPECT_TRUE(tabs->tabText(kQuality).contains(" data loss"));
  EXPECT_TRUE(button->isVisible() && button->text().contains(" data loss"));
  EXPECT_TRUE(pane(Side::kMeasured).content().alarm.contains("ilt.truncated"));
  EXPECT_NE(tabs->currentIndex(), kQuality);
  button->click();
  EXPECT_EQ(tabs->currentIndex(), kQuality);
  window_.resize(1280, 800);
  QCoreApplication::processEvents();
  const auto* table = tabs->currentWidget()->findChild<QTableView*>();
  for (const auto column : {DiagnosticsModel::kMeaning, DiagnosticsModel::kAdvice}) {
    EXPECT_GT(table->columnWidth(column), 120) << "wide enough to be read";
  }
  screenshot("data_loss");
}

TEST_F(WindowTest, WhatWasOpenedIsOfferedAgain) {
  open(kBase);
  open({kTraces / "hta/simple_add"});
  auto* recent = window_.menuBar()->findChild<QMenu*>("recent");
  ASSERT_NE(recent, nullptr);
  Q_EMIT recent->aboutToShow();
  ASSERT_GE(recent->actions().size(), 2);
  EXPECT_EQ(recent->actions()[0]->text(), "simple_add");
  EXPECT_EQ(recent->actions()[1]->text(), "base.r0.json.gz and 1 more");
  recent->actions()[1]->trigger();
  settle();
  EXPECT_EQ(window_.session().recorded()->files, kBase);
  EXPECT_EQ(window_.session().recorded()->run->trace().ranks().size(), 2U);
}

TEST_F(WindowTest, TheSampleIsAClickAway) {
  const auto actions = window_.findChildren<QAction*>("open_sample");
  ASSERT_EQ(actions.size(), 1);
  actions.front()->trigger();
  settle();
  ASSERT_NE(window_.session().recorded(), nullptr);
  EXPECT_TRUE(window_.session().recorded()->predictor) << "schedules can be predicted from it";
}

TEST_F(WindowTest, RecordingsOfTheEngineArePredictedToo) {
  open({kTraces / "engine_t6/sparse_dist"}, {"torchrec/semi_sync"});
  ASSERT_TRUE(pane(Side::kPredicted).run()) << "no prediction";
  EXPECT_EQ(pane(Side::kPredicted).run()->trace().ranks().size(), 2U);
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

TEST_F(WindowTest, CancelDropsWhatIsUnderWay) {
  QSignalSpy opened(&window_.session(), &Session::opened);
  window_.open(kBase);
  auto* cancel = window_.statusBar()->findChild<QToolButton*>("cancel");
  ASSERT_TRUE(cancel != nullptr && cancel->isVisible());
  cancel->click();
  EXPECT_FALSE(window_.session().busy()) << "nobody waits for what is not wanted";
  EXPECT_FALSE(cancel->isVisible());
  open(kBase, {"torchrec/staged"});
  EXPECT_EQ(opened.count(), 1);
  EXPECT_EQ(window_.timelines().forecasts().size(), 1U);
  window_.predict("torchrec/sparse_dist");
  window_.session().cancel();
  window_.predict("torchrec/fused_sparse_dist");
  settle();
  ASSERT_EQ(window_.timelines().forecasts().size(), 2U);
  EXPECT_EQ(window_.timelines().forecasts().back()->schedule.name, "torchrec/fused_sparse_dist");
}

TEST_F(WindowTest, ResultsOfAllComeOneByOneUntilCancelled) {
  open(kBase);
  QSignalSpy predicted(&window_.session(), &Session::predicted);
  window_.findChild<QAction*>("predict_all")->trigger();
  ASSERT_TRUE(QTest::qWaitFor([&] { return predicted.count() > 0; }, kPatienceMs));
  EXPECT_TRUE(window_.session().busy()) << "the others are under way";
  window_.session().cancel();
  const auto came = static_cast<std::size_t>(predicted.count());
  EXPECT_EQ(window_.timelines().forecasts().size(), came);
  window_.predict("torchrec/fused_sparse_dist");
  settle();
  EXPECT_EQ(window_.timelines().forecasts().size(), came + 1);
}

}  // namespace
}  // namespace interlace::gui
