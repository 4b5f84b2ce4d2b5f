// The program as a user runs it without a display.
#include <gtest/gtest.h>

#include <QImage>
#include <QProcess>
#include <filesystem>

#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

const std::filesystem::path kRecordings = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";

struct Ended {
  int status = -1;
  std::string errors;
};

Ended run_gui(const QStringList& arguments) {
  QProcess program;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) environment.remove(name);
  program.setProcessEnvironment(environment);
  program.start(INTERLACE_GUI_PROGRAM, arguments);
  constexpr int kLongestMs = 120'000;
  if (!program.waitForFinished(kLongestMs)) return {};
  return {program.exitCode(), program.readAllStandardError().toStdString()};
}

QString in_qt(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

TEST(Program, ItsHelpFitsTheTerminal) {
  for (const qsizetype columns : {80, 100}) {
    QProcess program;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("COLUMNS", QString::number(columns));
    program.setProcessEnvironment(environment);
    program.start(INTERLACE_GUI_PROGRAM, {"--help"});
    ASSERT_TRUE(program.waitForFinished());
    const QStringList lines = QString::fromUtf8(program.readAllStandardOutput()).split('\n');
    EXPECT_GT(lines.size(), 20);
    for (const QString& line : lines) EXPECT_LE(line.size(), columns) << line.toStdString();
  }
}

TEST(Program, RendersMeasuredBesidePredictedWithoutADisplay) {
  const testing::TemporaryFolder folder;
  const auto draw = [&](const char* name, const QStringList& more) {
    QStringList arguments = {in_qt(kRecordings / "base.mem.r0.json.gz"),
                             in_qt(kRecordings / "base.mem.r1.json.gz"),
                             in_qt(kRecordings / "base.mem.r0.snap.pickle"),
                             in_qt(kRecordings / "base.mem.r1.snap.pickle"),
                             "--render",
                             in_qt(folder.path() / name)};
    const Ended answer = run_gui(arguments + more);
    EXPECT_EQ(answer.status, 0) << answer.errors;
    return QImage(in_qt(folder.path() / name));
  };
  const QImage measured = draw("measured.png", {});
  const QImage compared = draw("compared.png", {"--schedule", "torchrec/staged"});
  const QImage explained = draw("explained.png", {"--schedule", "torchrec/staged", "--critical-path", "--idle"});
  const QImage bare = draw("bare.png", {"--schedule", "torchrec/staged", "--no-memory"});
  const QImage small = draw("small.png", {"--schedule", "torchrec/staged", "--size", "1000x800"});
  EXPECT_EQ(compared.size(), QSize(1920, 1080));
  EXPECT_EQ(small.size(), QSize(1000, 800));
  EXPECT_NE(compared, bare);
  EXPECT_NE(measured, compared);
  EXPECT_NE(compared, explained);
}

TEST(Program, DrawsARecordingFromWhichNothingCanBePredicted) {
  const testing::TemporaryFolder folder;
  const QString out = in_qt(folder.path() / "out.png");
  const QString without_stages = in_qt(kRecordings.parent_path() / "hta/simple_add");
  const Ended drawn = run_gui({without_stages, "--render", out});
  EXPECT_EQ(drawn.status, 0) << drawn.errors;
  EXPECT_EQ(QImage(out).size(), QSize(1920, 1080));
  const Ended asked = run_gui({without_stages, "--schedule", "torchrec/base", "--render", out});
  EXPECT_EQ(asked.status, 1);
  EXPECT_NE(asked.errors.find("gui.cannot_predict"), std::string::npos) << asked.errors;
}

TEST(Program, DrawsAllSchedulesThatApply) {
  const testing::TemporaryFolder folder;
  const Ended answer = run_gui({in_qt(kRecordings / "base.r0.json.gz"), "--schedule", "all", "--schedule", "base",
                                "--render", in_qt(folder.path() / "all.png"), "--size", "1000x6000"});
  EXPECT_EQ(answer.status, 0) << answer.errors;
  EXPECT_NE(answer.errors.find("left out, stage "), std::string::npos) << answer.errors;
  EXPECT_NE(answer.errors.find("recsys/dp_mp_serial"), std::string::npos) << answer.errors;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "all.png"));
}

TEST(Program, SaysWhatIsWrong) {
  const testing::TemporaryFolder folder;
  const QString out = in_qt(folder.path() / "out.png");
  const Ended no_file = run_gui({"no_such_file.json", "--render", out});
  EXPECT_EQ(no_file.status, 1);
  EXPECT_NE(no_file.errors.find("no_such_file.json"), std::string::npos) << no_file.errors;
  const Ended no_schedule = run_gui({in_qt(kRecordings / "base.r0.json.gz"), "--schedule", "none", "--render", out});
  EXPECT_EQ(no_schedule.status, 1);
  EXPECT_NE(no_schedule.errors.find("schedule.no_such_schedule"), std::string::npos) << no_schedule.errors;
  const Ended no_profile = run_gui({in_qt(kRecordings / "base.r0.json.gz"), "--profile", "none", "--render", out});
  EXPECT_EQ(no_profile.status, 1);
  EXPECT_NE(no_profile.errors.find("stages.bad_profile"), std::string::npos) << no_profile.errors;
  const Ended other = run_gui({in_qt(kRecordings / "base.r0.json.gz"), "--profile", "interlace", "--schedule",
                               "torchrec/base", "--render", out});
  EXPECT_NE(other.errors.find("gui.cannot_predict"), std::string::npos)
      << "its stages are TorchRec's: " << other.errors;
  EXPECT_EQ(run_gui({"--colour", "taste"}).status, 2);
  const Ended no_display = run_gui({in_qt(kRecordings / "base.r0.json.gz")});
  EXPECT_EQ(no_display.status, 1);
  EXPECT_NE(no_display.errors.find("--render"), std::string::npos) << "told what to do instead";
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out.png"));
}

}  // namespace
}  // namespace interlace::gui
