// Marks and notes: where they land, what they are called, and that none are lost.
#include "gui/session/notes.hpp"

#include <QApplication>
#include <QInputDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>
#include <fstream>
#include <iterator>

#include "tests/gui/window_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

class NotesTest : public WindowTest {
 protected:
  void open_copy() {
    recording_ = folder_.path() / "base.r0.json.gz";
    std::filesystem::copy_file(kBase[0], recording_);
    notes_ = notes_file(recording_);
  }
  [[nodiscard]] std::string notes() const {
    std::ifstream in(notes_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Closes the dialog that tells a failure with this code.
  void expect_failure(const QString& code) {
    QMessageBox* dialog = window_.failure_dialog();
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(dialog->informativeText().contains(code)) << dialog->informativeText().toStdString();
    dialog->button(QMessageBox::Ok)->click();
    QTest::qWait(10);  // deletes itself
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path recording_;
  std::filesystem::path notes_;
};

TEST_F(NotesTest, ThoseThatCannotBeReadAreNotWrittenOver) {
  open_copy();
  const std::string damaged = R"({"interlace_notes": 1, "notes": [{"at_ns": 5, "text": "weeks of work"})";
  folder_.write("base.r0.json.gz.notes.json", damaged);
  open({recording_});
  expect_failure("gui.notes_unreadable");
  window_.note("new");
  expect_failure("gui.notes_unreadable");
  EXPECT_EQ(notes(), damaged);
  window_.timelines().toggle_mark();  // takes the new one away: without notes the file would go, too
  expect_failure("gui.notes_unreadable");
  EXPECT_TRUE(window_.timelines().marks(Side::kMeasured).empty());
  EXPECT_EQ(notes(), damaged);

  folder_.write("base.r0.json.gz.notes.json", damaged + "]}");  // mended while the recording is open
  window_.note("new");
  EXPECT_EQ(window_.failure_dialog(), nullptr);
  const std::vector<Mark> kept = read_notes(notes_);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept.front(), (Mark{5, "weeks of work"}));
  EXPECT_EQ(kept, window_.timelines().marks(Side::kMeasured));
}

TEST_F(NotesTest, OneIsWrittenWhereTheMouseWasBeforeTheDialog) {
  open_copy();
  open({recording_});
  TimelinePane& measured = pane(Side::kMeasured);
  const QRectF plot = areas_of(QRectF(measured.rect())).plot;
  constexpr int kX = 300;
  QTest::mouseMove(&measured, QPoint(static_cast<int>(plot.left()) + kX, static_cast<int>(plot.top()) + 60));
  ASSERT_EQ(measured.cursor_x(), std::optional<double>(kX));
  const Nanoseconds at = measured.content().trace_view().time_at(kX);
  QTimer::singleShot(0, [&measured] {
    auto* asks = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(asks, nullptr);
    QEvent leaves(QEvent::Leave);  // as to a dialog that opens under the pointer
    QCoreApplication::sendEvent(&measured, &leaves);
    asks->setTextValue("here");
    asks->accept();
  });
  key("T");
  EXPECT_EQ(window_.timelines().marks(Side::kMeasured), (std::vector<Mark>{{at, "here"}}));
}

TEST_F(NotesTest, NoTwoMarksAreGivenOneNumber) {
  open_copy();
  open({recording_});
  TimelinePane& measured = pane(Side::kMeasured);
  const QRectF plot = areas_of(QRectF(measured.rect())).plot;
  const auto mark_at = [&](int x) {
    QTest::mouseMove(&measured, QPoint(static_cast<int>(plot.left()) + x, static_cast<int>(plot.top()) + 60));
    key("M");
  };
  for (const int x : {200, 300, 400}) mark_at(x);
  mark_at(300);  // takes it away
  mark_at(500);
  std::vector<std::string> names;
  for (const Mark& mark : window_.timelines().marks(Side::kMeasured)) names.push_back(mark.text);
  EXPECT_EQ(names, (std::vector<std::string>{"1", "3", "4"}));
}

}  // namespace
}  // namespace interlace::gui
