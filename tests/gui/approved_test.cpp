// What windows look like, against pictures that a person has looked at. INTERLACE_APPROVE=1 makes the pictures anew:
// look at them before they are committed.
#include <QImage>
#include <QPixmap>
#include <cstdlib>

#include "tests/gui/window_fixture.hpp"

namespace interlace::gui {
namespace {

const std::filesystem::path kApproved = std::filesystem::path(INTERLACE_SOURCE_DIR) / "tests/gui/approved";

/// Part of the pixels that may differ: fonts are not the same everywhere, and predictions move by parts of a
/// millisecond as the simulator learns.
constexpr double kTolerance = 0.06;

/// An eighth as wide and high, so that how letters are smoothed does not count.
QImage small(const QImage& image) {
  return image.convertToFormat(QImage::Format_RGB32).scaled(240, 135, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
}

/// The part of the pixels that are visibly different.
double difference(const QImage& a, const QImage& b) {
  constexpr int kVisible = 40;
  int different = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      const QColor of_a = a.pixelColor(x, y);
      const QColor of_b = b.pixelColor(x, y);
      const int most = std::max({std::abs(of_a.red() - of_b.red()), std::abs(of_a.green() - of_b.green()),
                                 std::abs(of_a.blue() - of_b.blue())});
      different += most > kVisible ? 1 : 0;
    }
  }
  return static_cast<double>(different) / (a.width() * a.height());
}

class ApprovedTest : public WindowTest {
 protected:
  QImage seen() {
    QCoreApplication::processEvents();
    return small(window_.grab().toImage());
  }
  void expect_as_approved(const std::string& name) {
    const QString file = QString::fromStdString((kApproved / (name + ".png")).string());
    const QImage now = seen();
    if (std::getenv("INTERLACE_APPROVE") != nullptr) {
      ASSERT_TRUE(now.save(file));
      return;
    }
    const QImage approved = QImage(file).convertToFormat(QImage::Format_RGB32);
    ASSERT_EQ(approved.size(), now.size()) << "no approved picture: " << file.toStdString();
    EXPECT_LE(difference(approved, now), kTolerance) << name;
  }
};

TEST_F(ApprovedTest, MeasuredAbovePredicted) {
  open(kBase, {"torchrec/sparse_dist"});
  expect_as_approved("compared");
  screenshot("compared");
}

TEST_F(ApprovedTest, DarkColours) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.set_theme(ThemeKind::kDark);
  expect_as_approved("dark");
  screenshot("compared_dark");
  window_.set_theme(ThemeKind::kLight);
}

TEST_F(ApprovedTest, TheEditorWithARace) {
  open(kBase, {"torchrec/sparse_dist"});
  window_.edit_shown();
  settle();
  DraftModel& draft = window_.editor().model();
  for (int row = 6; row < draft.rowCount(); ++row) {
    if (draft.kind(row) != DraftRow::Kind::kWait) continue;
    draft.remove_row(row);
    break;
  }
  settle();
  expect_as_approved("editor");
}

TEST_F(ApprovedTest, TheToleranceTellsSchedulesAndThemesApart) {
  open(kBase, {"torchrec/sparse_dist"});
  const QImage sparse = seen();
  window_.predict("torchrec/fused_sparse_dist");
  settle();
  EXPECT_GT(difference(sparse, seen()), kTolerance);
  window_.timelines().zoom(2);
  EXPECT_GT(difference(sparse, seen()), kTolerance);
}

}  // namespace
}  // namespace interlace::gui
