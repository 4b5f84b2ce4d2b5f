// Recordings of a part of a program.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "cupti_collector/control_file.hpp"
#include "cupti_collector/recording_switch.hpp"
#include "cupti_collector/step_counter.hpp"
#include "simulator/base/unrecorded_steps.hpp"
#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::OperationId;
using trace::OperationKind;

enum class SwitchedBy : std::uint8_t { kItsProgram, kAnotherThread };

/// That the recording is whole: a closed account, each kernel with its launch, and nothing lost. Where another thread
/// switches it on and off, a launch may be under way: works at the edges of the part may then come without theirs.
void expect_whole(const Recorded& run, const ReadBack& read, SwitchedBy by = SwitchedBy::kItsProgram) {
  const trace::SessionFacts facts = trace::read_session(run.file());
  ASSERT_EQ(facts.ledger.size(), 1U);
  EXPECT_TRUE(facts.ledger.front().is_closed()) << run.err;
  EXPECT_EQ(run.err.find("NOT OK"), std::string::npos) << run.err;
  std::vector<Nanoseconds> launched;
  std::vector<Nanoseconds> unlaunched;
  for (std::uint32_t i = 0; i < read.trace.size(); ++i) {
    if (!trace::is_device_work(read.trace.kind({i}))) continue;
    (read.trace.launch_of({i}) ? launched : unlaunched).push_back(read.trace.start({i}));
  }
  ASSERT_FALSE(launched.empty());
  EXPECT_EQ(facts.ledger.front().unlaunched, static_cast<std::int64_t>(unlaunched.size()));
  EXPECT_TRUE(by == SwitchedBy::kAnotherThread || unlaunched.empty()) << unlaunched.size();
  const auto [first, last] = std::ranges::minmax(launched);
  for (const Nanoseconds start : unlaunched) EXPECT_TRUE(start < first || start > last) << start;
}

std::int64_t kernels_of(const ReadBack& read) { return std::ranges::count(read.trace.kinds(), OperationKind::kKernel); }

TEST(StepCounter, BeginsAndEndsWithSteps) {
  Plan plan;
  plan.step_name = "step";
  plan.skip = 2;
  plan.steps = 3;
  StepCounter counter(plan);
  const auto on = [&](const HostEvents::Event& event) -> std::optional<bool> {
    const auto word = counter.on(event, false);
    return word ? std::optional(word->is_on) : std::nullopt;
  };
  std::vector<std::optional<bool>> found;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(on({.kind = HostEvents::Kind::kPush, .name = "other"}), std::nullopt);
    found.push_back(on({.kind = HostEvents::Kind::kPush, .name = "step"}));
    EXPECT_EQ(on({.kind = HostEvents::Kind::kPop}), std::nullopt);
    EXPECT_EQ(on({.kind = HostEvents::Kind::kNameThread, .name = "step"}), std::nullopt);
    EXPECT_EQ(on({.kind = HostEvents::Kind::kPush, .is_of_library = true, .name = "step"}), std::nullopt);
  }
  const std::vector<std::optional<bool>> expected{{}, {}, true, {}, {}, false, {}};
  EXPECT_EQ(found, expected);
}

TEST(RecordingSwitch, TakesNoWordForAnothers) {
  Plan off;
  off.starts_off = true;
  EXPECT_FALSE(RecordingSwitch(off).is_on());
  RecordingSwitch recording((Plan()));
  EXPECT_TRUE(recording.is_on());
  recording.rest(true);
  recording.wish(false);
  recording.rest(false);
  EXPECT_FALSE(recording.is_on()) << "it does not rest any more, but was told to be off meanwhile";
  recording.wish(true);
  EXPECT_TRUE(recording.is_on());
  recording.rest(true);
  recording.wish(true);
  EXPECT_FALSE(recording.is_on()) << "a wish does not end the rest";
  recording.rest(false);
  recording.end();
  recording.wish(true);
  EXPECT_FALSE(recording.is_on()) << "nothing comes after the end";
  EXPECT_TRUE(recording.has_ended());
}

TEST(ControlFile, SaysWhatChanged) {
  const testing::TemporaryFolder folder;
  ControlFile control(folder.path());
  Nanoseconds now = kSecond;
  EXPECT_EQ(control.changed(now), std::nullopt);
  EXPECT_TRUE(ControlFile::write(folder.path(), false));
  EXPECT_EQ(control.changed(now + kMillisecond), std::nullopt) << "not looked at so soon";
  EXPECT_EQ(control.changed(now += kSecond), false);
  EXPECT_EQ(control.changed(now += kSecond), std::nullopt) << "told already";
  EXPECT_TRUE(ControlFile::write(folder.path(), true));
  EXPECT_EQ(control.changed(now += kSecond), true);
}

void expect_three_steps(const std::string& options) {
  const Recorded run = record("named_steps 12", "--skip 4 --steps 3 " + options);
  const ReadBack read(run.file());
  expect_whole(run, read);
  // The work of a step runs on when the next begins: it is recorded all the same.
  EXPECT_EQ(kernels_of(read), 30);
  for (int i = 0; i < 12; ++i) {
    const bool is_in = i >= 4 && i < 7;
    EXPECT_EQ(read.named("in step " + std::to_string(i)).size(), is_in ? 1U : 0U) << i;
  }
  EXPECT_EQ(read.diagnostics.count_of("record.stopped"), 2) << "before and after";
}

TEST(RecordPart, TakesStepsAndAllTheirWork) { expect_three_steps(""); }

/// What the recording says that steps took before; none where it says nothing.
std::optional<UnrecordedSteps> told_by(const ReadBack& read) {
  for (std::uint32_t i = 0; i < read.trace.size(); ++i) {
    if (const auto told = unrecorded_steps_of(read.trace.name({i}))) return told;
  }
  return std::nullopt;
}

TEST(RecordPart, TellsWhatSkippedStepsTook) {
  const auto told = told_by(ReadBack(record("timed_steps 12", "--skip 9 --steps 2").file()));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->steps, 4) << "the later half";
  EXPECT_GT(told->time, 4 * 5 * kMillisecond);
  EXPECT_LT(told->time, 4 * 50 * kMillisecond) << "the first steps, of 100 ms, are not among them";
  EXPECT_FALSE(told_by(ReadBack(record("timed_steps 12", "--skip 7 --steps 2").file()))) << "three tell too little";
}

TEST(RecordPart, TellsNothingOfSkippedStepsThatWereRecorded) {
  EXPECT_FALSE(told_by(ReadBack(record("timed_and_started 12", "--skip 9 --steps 2").file())));
}

TEST(RecordPart, TakesStepsInLightMode) { expect_three_steps("--light"); }

TEST(RecordPart, TakesAllStepsAfterThoseSkipped) {
  const Recorded run = record("named_steps 12", "--skip 4");
  const ReadBack read(run.file());
  expect_whole(run, read);
  EXPECT_EQ(kernels_of(read), 80);
}

TEST(RecordPart, NamesItsDevicesAlthoughItBeganLater) {
  const Recorded run = record("named_steps 6", "--skip 4");
  const ReadBack read(run.file());
  ASSERT_EQ(read.trace.ranks().size(), 1U);
  ASSERT_EQ(read.trace.ranks()[0].devices.size(), 1U);
  EXPECT_EQ(read.trace.ranks()[0].devices[0].name, "Fake GPU");
}

// The program asks for recording to stop and to go on while the writer hangs in turning it off, and CUDA does at the
// end.
TEST(RecordPart, LetsAProgramGoOnAndEndThoughCuptiHangsInAStop) {
  const Recorded run = record_program("timeout -s KILL 40 " FAKE_PROGRAM " start_and_stop", {},
                                      "FAKE_CUDA_HANG_DISABLE=1 FAKE_CUDA_HANG_AT_EXIT=1 "
                                      "INTERLACE_RECORD_TEARDOWN_NS=2000000000");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("finished"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("CUPTI did not hand over its last records in time"), std::string::npos) << run.err;
  EXPECT_EQ(kernels_of(ReadBack(run.file())), 10);
}

TEST(RecordPart, LetsAProgramStopAndEndThoughCuptiHangsInHandingOver) {
  const Recorded run = record_program("timeout -s KILL 40 " FAKE_PROGRAM " late_stop", {}, "FAKE_CUDA_HANG_FLUSH=1");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("finished"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("CUPTI did not hand over its last records in time"), std::string::npos) << run.err;
}

TEST(RecordPart, TakesAStepThatBeganBeforeTheFirstCudaCall) {
  const Recorded run = record("early_steps 6", "--steps 3");
  ASSERT_EQ(run.status, 0);
  const ReadBack read(run.file());
  expect_whole(run, read);
  EXPECT_EQ(kernels_of(read), 30);
  EXPECT_EQ(read.named("step").size(), 3U);
}

TEST(RecordPart, BeginsAsTheProgramSaidBeforeItsFirstCudaCall) {
  EXPECT_EQ(kernels_of(ReadBack(record("early_start", "--start-off").file())), 10);
  EXPECT_EQ(kernels_of(ReadBack(record("early_stop").file())), 1);
}

/// Lets the program begin to record itself into the folder, with these variables; its status.
int record_itself(const testing::TemporaryFolder& folder, const std::string& environment,
                  const std::string& scenario = "early_late_start") {
  const std::string base = folder.path().string();
  const std::string command = "exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " RECORD_ITSELF_DIR=" + base +
                              " RECORD_ITSELF_LIBRARY=" COLLECTOR_LIBRARY " " + environment + " " FAKE_PROGRAM " " +
                              scenario + " >" + base + "/out 2>" + base + "/err";
  return std::system(command.c_str());
}

TEST(RecordPart, KnowsTheDriversLaunchesWhereItBeginsLate) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(record_itself(folder, ""), 0) << text_of(folder.path() / "err");
  const ReadBack read(folder.path() / "rank0.ilt");
  EXPECT_EQ(kernels_of(read), 20);
  EXPECT_EQ(read.named("cuLaunchKernel").size(), 10U);
  EXPECT_EQ(read.named("cudaLaunchKernel").size(), 10U);
}

// The run tells that the files of ranks belong together (simulator/ingest/same_run.hpp).
TEST(RecordPart, TakesTheEnvironmentsSettingsWhereTheProgramNamesTheFolder) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(record_itself(folder, "INTERLACE_RECORD_RUN=r INTERLACE_RECORD_LAST_NS=60000000000"), 0)
      << text_of(folder.path() / "err");
  const ReadBack read(folder.path() / "rank0.ilt");
  ASSERT_EQ(read.trace.ranks().size(), 1U);
  EXPECT_EQ(read.trace.ranks()[0].run_id, "r");
  EXPECT_EQ(read.diagnostics.count_of("record.last_part"), 1);
}

TEST(RecordPart, TellsAProgramWhyItCannotBeRecorded) {
  const testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const auto told = [&](const std::string& environment, const std::string& scenario = "early_refused") {
    EXPECT_EQ(record_itself(folder, environment, scenario), 0) << text_of(base + "/err");
    const std::string out = text_of(base + "/out");
    EXPECT_NE(out.find("finished"), std::string::npos) << "the program runs on";
    return out.substr(0, out.find('\n'));
  };
  const std::string begin = "error[record.cannot_start]: ";
  EXPECT_EQ(told("RECORD_ITSELF_DIR=" + base + "/out"),
            begin + base + "/out: recording cannot begin: the folder cannot be made: Not a directory");
  EXPECT_EQ(told("RECORD_ITSELF_DIR=/proc/none"),
            begin + "/proc/none: recording cannot begin: the folder cannot be made: No such file or directory");
  EXPECT_EQ(told("INTERLACE_RECORD_FLUSH_NS=soon"), begin + base +
                                                        ": recording cannot begin: INTERLACE_RECORD_FLUSH_NS: 'soon' "
                                                        "is no number from 1000000 on");
  EXPECT_EQ(told("RECORD_ITSELF_DIR="), begin + "recording cannot begin: no folder is named");
  const std::string without_threads = told("RECORD_ITSELF_DIR=" + base + "/new", "early_refused 0");
  EXPECT_EQ(without_threads.rfind(begin + base + "/new: recording cannot begin: ", 0), 0U) << without_threads;
  EXPECT_NE(without_threads.find("Resource temporarily unavailable"), std::string::npos) << without_threads;
}

TEST(RecordPart, TakesAWindowOfTime) {
  const Recorded run = record("for_seconds 12", "--window 0.3:0.8");
  const ReadBack read(run.file());
  expect_whole(run, read, SwitchedBy::kAnotherThread);
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  for (const OperationId launch : read.named("cudaLaunchKernel")) {
    first = std::min(first, read.trace.start(launch));
    last = std::max(last, read.trace.start(launch));
  }
  // Plans are looked at every 20 ms; a busy machine may take much longer.
  EXPECT_GT(last - first, 300 * kMillisecond);
  EXPECT_LT(last - first, 750 * kMillisecond);
}

TEST(RecordPart, TakesPeriodsOfTimeForSteps) {
  const Recorded run = record("for_seconds 12", "--skip 3 --steps 5 --step-seconds 0.1");
  const ReadBack read(run.file());
  expect_whole(run, read, SwitchedBy::kAnotherThread);
  const auto launches = read.named("cudaLaunchKernel");
  ASSERT_FALSE(launches.empty());
  const Nanoseconds length = read.trace.start(launches.back()) - read.trace.start(launches.front());
  EXPECT_GT(length, 300 * kMillisecond);
  EXPECT_LT(length, 750 * kMillisecond);
}

TEST(RecordPart, RefusesStepsOfNoTime) {
  for (const char* seconds : {"0", "-1", "x", "1e300"}) {
    const Recorded run = record("launches", std::string("--steps 3 --step-seconds ") + seconds);
    EXPECT_NE(run.status, 0) << seconds;
    EXPECT_NE(run.err.find("record.bad_option"), std::string::npos) << run.err;
  }
}

TEST(RecordPart, FollowsTheControlFile) {
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string command = "(sleep 0.6; echo on >" + base + "/trace/control; sleep 0.5; echo off >" + base +
                              "/trace/control) & exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY
                              " --start-off --out " +
                              base + "/trace -- " FAKE_PROGRAM " for_seconds 18 >" + base + "/out 2>" + base + "/err";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string out = text_of(base + "/out");
  const std::int64_t launched = std::stoll(out.substr(out.rfind("launched ") + 9));
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  EXPECT_GT(kernels_of(read), launched / 20);
  EXPECT_LT(kernels_of(read), launched / 2);
  EXPECT_FALSE(std::filesystem::exists(ControlFile::file(folder.path() / "trace")));
}

TEST(RecordPart, TogglesWithASignal) {
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  // `timeout` sends SIGUSR2 to the launcher, which keeps it from the program: it would end it.
  const std::string command = "env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER
                              " timeout --foreground --preserve-status -s USR2 0.5 " INTERLACE_RECORD_BINARY
                              " --control --out " +
                              base + "/trace -- " FAKE_PROGRAM " for_seconds 18 >" + base + "/out 2>" + base + "/err";
  EXPECT_EQ(std::system(command.c_str()), 0) << text_of(base + "/err");
  const std::string out = text_of(base + "/out");
  const std::int64_t launched = std::stoll(out.substr(out.rfind("launched ") + 9));
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  EXPECT_GT(kernels_of(read), launched / 20);
  EXPECT_LT(kernels_of(read), launched * 3 / 4);
}

TEST(RecordPart, StopsAtTheSizeThatIsAllowed) {
  // Without the limit these four million launches take about 20 MB. The writer may be behind by all its buffers when
  // the file has its size: by the records of 250,000 launches.
  const Recorded run = record("flood 4", "--max-mb 1 --buffers 64");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("largest size (--max-mb)"), std::string::npos) << run.err;
  const auto bytes = std::filesystem::file_size(run.file());
  EXPECT_GT(bytes, 900'000U);
  EXPECT_LT(bytes, 8'000'000U);  // on a machine that is busy besides
  EXPECT_TRUE(trace::read_session(run.file()).is_ended);
}

TEST(RecordPart, RecordsNothingBeyondTheSizeThatIsAllowed) {
  const Recorded run = record("start_again 1", "--max-mb 1 --buffers 8");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("largest size (--max-mb)"), std::string::npos) << run.err;
  EXPECT_TRUE(ReadBack(run.file()).named("after the end").empty()) << "start() does not begin anew";
  EXPECT_NE(run.out.find("records 0: its recording has ended"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("finished"), std::string::npos) << "start() harms no program that went well so far";
}

TEST(RecordPart, KeepsNoMoreInMemoryThanIsAllowed) {
  const Recorded run = record("flood 1", "--last 60s --max-mb 1");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("more than --max-mb allows"), std::string::npos) << run.err;
  EXPECT_LT(std::filesystem::file_size(run.file()), 1'100'000U);
  // The last that came. A writer that is far behind takes calls and kernels in the large pieces in which CUPTI hands
  // them over, and then so little memory may hold calls only.
  EXPECT_GT(ReadBack(run.file()).trace.size(), 1'000U);
}

TEST(RecordPart, DoesNotObeyTheLastWordOfAnotherRecording) {
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  std::filesystem::create_directory(base + "/trace");
  ASSERT_TRUE(ControlFile::write(base + "/trace", false));
  const std::string command = "exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY " --out " +
                              base + "/trace -- " FAKE_PROGRAM " for_seconds 5 >" + base + "/out 2>" + base + "/err";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(ReadBack(folder.path() / "trace" / "rank0.ilt").diagnostics.count_of("record.stopped"), 0);
}

TEST(RecordPart, StaysOffWhenItsRateAllowsMore) {
  // Rests in the first second, is told to be off meanwhile, and could go on in the next.
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string command = "(sleep 0.6; echo off >" + base +
                              "/trace/control) & exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY
                              " --max-mb-per-s 1 --out " +
                              base + "/trace -- " FAKE_PROGRAM " chatter 150 >" + base + "/out 2>" + base + "/err";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_NE(text_of(base + "/err").find("--max-mb-per-s"), std::string::npos) << text_of(base + "/err");
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  EXPECT_EQ(read.diagnostics.count_of("record.stopped"), 1);
}

/// That nothing of the file is missing that it says it has.
void expect_no_loss(const ReadBack& read) {
  for (const char* code : {"ilt.truncated", "ilt.lost_operations", "ilt.lost_definitions", "ilt.lost_references",
                           "ilt.damaged_chunk", "record.sync_without_call"}) {
    EXPECT_EQ(read.diagnostics.count_of(code), 0) << code;
  }
}

TEST(RecordPart, KeepsTheLastPartInMemory) {
  const Recorded run = record("for_seconds 30", "--last 1s");
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  expect_no_loss(read);
  EXPECT_EQ(read.diagnostics.count_of("record.last_part"), 1);
  // A second of time is kept: its first call comes some time after it began, and the program ends after its last call.
  EXPECT_GT(read.trace.length(), 900 * kMillisecond);
  EXPECT_LE(read.trace.length(), 2 * kSecond) << "of three";
  const trace::SessionFacts facts = trace::read_session(run.file());
  EXPECT_TRUE(facts.is_ended);
  ASSERT_EQ(facts.ledger.size(), 1U);
  EXPECT_TRUE(facts.ledger.front().is_closed());
  EXPECT_GT(facts.ledger.front().launched, kernels_of(read)) << "the account is of the whole program";
  EXPECT_EQ(read.named("add(float*, float*, int)").size(), static_cast<std::size_t>(kernels_of(read)));
}

TEST(RecordPart, WritesTheLastPartWhenTold) {
  const testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  // The program runs until it is killed, when it has written its last part for the first time.
  const std::string command = "env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY " --last 30s --out " +
                              base + "/trace -- sh -c 'echo $$ >" + base +
                              "/pid; exec " FAKE_PROGRAM " run' >/dev/null 2>" + base + "/err & sleep 1; wc -c <" +
                              base + "/trace/rank0.ilt >" + base + "/before; echo dump >" + base +
                              "/trace/control; sleep 1; wc -c <" + base + "/trace/rank0.ilt >" + base +
                              "/after; kill -9 $(cat " + base + "/pid); wait";
  static_cast<void>(std::system(command.c_str()));
  EXPECT_GT(std::stoi(text_of(base + "/after")), 2 * std::stoi(text_of(base + "/before"))) << text_of(base + "/err");
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  expect_no_loss(read);
  EXPECT_GT(kernels_of(read), 100);
  EXPECT_EQ(read.diagnostics.count_of("record.ended_abruptly"), 1);
}

// As a program's end leaves them that waited for its disk in vain.
TEST(RecordPart, TakesAnUnfinishedFileThatReachesFurtherForTheFile) {
  const auto kernels = [](const std::string& damage) {
    const Recorded run = record_program(
        "sh -c 'cd $INTERLACE_RECORD_DIR; " FAKE_PROGRAM " launches 3; mv rank0.ilt old; " + std::string(FAKE_PROGRAM) +
        " launches 7; mv rank0.ilt rank0.ilt.new; " + damage + "mv old rank0.ilt'");
    EXPECT_EQ(run.files(), std::vector<std::string>{"rank0.ilt"});
    return kernels_of(ReadBack(run.file()));
  };
  EXPECT_EQ(kernels(""), 7);
  EXPECT_EQ(kernels("truncate -s 100 rank0.ilt.new; "), 3) << "it cannot be read";
  EXPECT_EQ(kernels("cp old x; mv rank0.ilt.new old; mv x rank0.ilt.new; "), 7) << "it is the older one";
}

TEST(RecordPart, HoldsItsRate) {
  const Recorded run = record("chatter 40", "--max-mb-per-s 1");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("--max-mb-per-s"), std::string::npos) << run.err;
  EXPECT_GE(ReadBack(run.file()).diagnostics.count_of("record.stopped"), 1);
}

TEST(RecordPart, RefusesNoTimeToKeep) {
  for (const char* last : {"0", "soon", "-1s", "999999999m"}) {
    const Recorded run = record("launches 1", std::string("--last=") + last);
    EXPECT_EQ(WEXITSTATUS(run.status), 1) << last;
    EXPECT_NE(run.err.find("record.bad_option"), std::string::npos) << run.err;
  }
}

TEST(RecordPart, RefusesAWindowThatEndsBeforeItBegins) {
  for (const char* window : {"5:3", "soon", "1:later", "-1", "nan"}) {
    const Recorded run = record("launches 1", std::string("--window=") + window);
    EXPECT_EQ(WEXITSTATUS(run.status), 1) << window;
    EXPECT_NE(run.err.find("record.bad_option"), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace interlace::collector
