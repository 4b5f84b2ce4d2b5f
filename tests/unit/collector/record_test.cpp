// The launcher, the injected library and the file it writes, over a program that uses the fake CUDA.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "tests/unit/collector/record_run.hpp"

namespace interlace::collector {
namespace {

using trace::OperationId;
using trace::OperationKind;

constexpr const char* kLaunch = "cudaLaunchKernel";

std::int64_t count_of(const trace::Trace& trace, OperationKind kind) { return std::ranges::count(trace.kinds(), kind); }

trace::LedgerRow ledger_of(const Recorded& run) {
  const trace::SessionFacts facts = trace::read_session(run.file());
  return facts.ledger.empty() ? trace::LedgerRow{} : facts.ledger.front();
}

TEST(Record, KeepsOutputAndStatus) {
  const Recorded run = record("status 42");
  EXPECT_EQ(WEXITSTATUS(run.status), 42);
  EXPECT_EQ(run.out, "injected 1\n");
  EXPECT_NE(run.err.find("ended with status 42"), std::string::npos) << run.err;
}

TEST(Record, WritesWhatTheProgramDid) {
  const Recorded run = record("steps 20");
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  // A step copies once, launches two kernels, records two events and waits for one.
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 40);
  EXPECT_EQ(count_of(read.trace, OperationKind::kCopy), 20);
  EXPECT_EQ(count_of(read.trace, OperationKind::kEventRecord), 40);
  EXPECT_EQ(count_of(read.trace, OperationKind::kStreamWait), 20);
  EXPECT_EQ(count_of(read.trace, OperationKind::kHostSync), 20);
  EXPECT_EQ(read.named("step").size(), 20U);
  EXPECT_EQ(read.named("add(float*, float*, int)").size(), 20U);
  EXPECT_EQ(read.named("Memcpy HtoD (Pinned -> Device)").size(), 20U);
  EXPECT_EQ(read.named("cudaGetDevice").size(), 0U) << "chatty calls are muted";
  EXPECT_EQ(read.diagnostics.entries().size(), 0U) << read.diagnostics.entries().front().code;
  for (std::uint32_t i = 0; i < read.trace.size(); ++i) {
    if (trace::is_device_work(read.trace.kind({i}))) {
      EXPECT_TRUE(read.trace.launch_of({i})) << read.trace.name({i});
    }
  }
  ASSERT_EQ(read.trace.ranks().size(), 1U);
  ASSERT_EQ(read.trace.ranks()[0].devices.size(), 1U);
  EXPECT_EQ(read.trace.ranks()[0].devices[0].name, "Fake GPU");
  EXPECT_EQ(read.trace.ranks()[0].devices[0].max_threads_per_sm, 2048);
}

TEST(Record, DescribesKernelsAndStreams) {
  const Recorded run = record("streams");
  const ReadBack read(run.file());
  const auto kernels = read.named("add(float*, float*, int)");
  ASSERT_EQ(kernels.size(), 1U);
  const trace::KernelDetail& kernel = *read.trace.kernel(kernels[0]);
  EXPECT_EQ(kernel.grid[0], 4);
  EXPECT_EQ(kernel.block[0], 128);
  EXPECT_EQ(kernel.registers_per_thread, 32);
  EXPECT_EQ(kernel.shared_memory, 1536);
  EXPECT_EQ(read.trace.duration(kernels[0]), 1'000);
  const trace::Lane& stream = read.trace.lane(read.trace.lane_of(kernels[0]));
  EXPECT_EQ(stream.number, 7);
  EXPECT_EQ(stream.priority, -3);
  EXPECT_EQ(stream.name, "non-blocking");
}

/// Each wait of the scenario `steps` is for the copy's event of its own step.
void expect_waits_joined(const Recorded& run, std::size_t steps) {
  const ReadBack read(run.file());
  const auto waits = read.named("cudaStreamWaitEvent");
  ASSERT_EQ(waits.size(), steps);
  std::set<OperationId> records;
  for (const OperationId wait : waits) {
    const trace::SyncDetail* detail = read.trace.sync(wait);
    ASSERT_TRUE(detail != nullptr && detail->record && detail->stream && detail->record_stream);
    EXPECT_EQ(read.trace.kind(*detail->record), OperationKind::kEventRecord);
    EXPECT_EQ(read.trace.lane(*detail->stream).number, 7);
    EXPECT_EQ(read.trace.lane(*detail->record_stream).number, 8);
    EXPECT_LT(read.trace.start(*detail->record), read.trace.start(wait));
    records.insert(*detail->record);
    // The record is the last of that event before the wait.
    for (const OperationId other : read.named("cudaEventRecord")) {
      const bool is_of_copies = read.trace.sync(other)->stream == detail->record_stream;
      const bool is_between = read.trace.start(other) > read.trace.start(*detail->record) &&
                              read.trace.start(other) < read.trace.start(wait);
      EXPECT_FALSE(is_of_copies && is_between);
    }
  }
  EXPECT_EQ(records.size(), steps);
}

TEST(Record, JoinsWaitsWithTheRecordsTheyWaitFor) { expect_waits_joined(record("steps 12"), 12); }

TEST(Record, JoinsWaitsThatComeBeforeTheirRecords) { expect_waits_joined(record("late_records 12"), 12); }

TEST(Record, JoinsAcrossTheEndOf32BitCorrelations) {
  const Recorded run = record("wrap 12");
  expect_waits_joined(run, 12);
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
}

TEST(Record, ReadsRecordsOfAnOlderCupti) {
  const Recorded run = record("steps 5", {}, "FAKE_CUDA_VERSION=24");
  const ReadBack read(run.file());
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 10);
  EXPECT_EQ(count_of(read.trace, OperationKind::kStreamWait), 5);
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
}

TEST(Record, JoinsQueriesThatFoundTheirWorkDone) {
  const Recorded run = record("steps 4");
  const ReadBack read(run.file());
  std::int64_t joined = 0;
  for (const OperationId query : read.named("cudaEventQuery")) {
    const trace::SyncDetail* detail = read.trace.sync(query);
    if (detail == nullptr) continue;
    EXPECT_EQ(detail->kind, trace::SyncKind::kEventQuery);
    joined += detail->record ? 1 : 0;
  }
  EXPECT_EQ(joined, 4);
}

TEST(Record, ClosesItsLedger) {
  const Recorded run = record("launches 3000");
  const trace::LedgerRow row = ledger_of(run);
  EXPECT_TRUE(row.is_closed());
  EXPECT_EQ(row.launched, 3000);
  EXPECT_EQ(row.recorded, 3000);
  EXPECT_EQ(row.device_work, 3000);
  EXPECT_NE(run.err.find("3,000 launched = 3,000 recorded + 0 untimed + 0 refused + 0 undelivered"), std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("NOT OK"), std::string::npos) << run.err;
}

TEST(Record, CountsWorkThatNeverCame) {
  const Recorded run = record("undelivered 6");
  const trace::LedgerRow row = ledger_of(run);
  EXPECT_EQ(row.launched, 16);
  EXPECT_EQ(row.recorded, 10);
  EXPECT_EQ(row.undelivered, 6);
  EXPECT_FALSE(row.is_closed());
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.diagnostics.count_of("record.undelivered_work"), 6);
}

TEST(Record, CountsWorkThatCameWithoutTimes) {
  const Recorded run = record("untimed 6");
  const trace::LedgerRow row = ledger_of(run);
  EXPECT_EQ(row.recorded, 10);
  EXPECT_EQ(row.untimed, 6);
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.diagnostics.count_of("record.untimed_work"), 6);
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 10) << "work without times is on no timeline";
}

TEST(Record, TakesWorkStillRunningAtTheEndForUntimed) {
  const trace::LedgerRow row = ledger_of(record("unfinished"));
  EXPECT_EQ(row.recorded, 10);
  EXPECT_EQ(row.untimed, 1);
}

TEST(Record, TakesACopyOfNothingForNoLoss) {
  const Recorded run = record("empty_copy");
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
}

TEST(Record, CountsAGraphLaunchOnce) {
  const trace::LedgerRow row = ledger_of(record("graph 30"));
  EXPECT_TRUE(row.is_closed());
  EXPECT_EQ(row.launched, 30);
  EXPECT_EQ(row.recorded, 30);
  EXPECT_EQ(row.device_work, 1500);
}

TEST(Record, TakesAGraphAsAWholeWhereAsked) {
  const Recorded run = record("graph 30", "--graphs whole");
  const trace::LedgerRow row = ledger_of(run);
  EXPECT_TRUE(row.is_closed());
  EXPECT_EQ(row.launched, 30);
  EXPECT_EQ(row.device_work, 30);
  const ReadBack read(run.file());
  const auto graphs = read.named("CUDA graph 3");
  ASSERT_EQ(graphs.size(), 30U);
  EXPECT_EQ(read.trace.duration(graphs[0]), 5'000) << "50 nodes of 100 ns";
}

TEST(Record, ExpectsNoWorkOfLaunchesThatAGraphCaptures) {
  for (const char* options : {"", "--light"}) {
    const Recorded run = record("capture 20", options);
    const trace::LedgerRow row = ledger_of(run);
    EXPECT_TRUE(row.is_closed()) << run.err;
    EXPECT_EQ(row.launched, 4) << "three kernels and the graph";
    EXPECT_EQ(row.device_work, 23);
  }
}

TEST(Record, CountsWhatNoBufferWasFreeFor) {
  // 60,000 launches are 15 MB of records; the 8 MiB of buffers are not emptied while the driver takes its time to
  // flush.
  const Recorded run = record("burst 60000", "--buffers 8", "FAKE_CUDA_SLOW_FLUSH=1");
  const trace::LedgerRow row = ledger_of(run);
  EXPECT_GT(row.dropped, 0);
  EXPECT_EQ(row.launched, row.recorded + row.untimed + row.refused + row.undelivered);
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
  EXPECT_EQ(ReadBack(run.file()).diagnostics.count_of("record.refused_work"), row.dropped);
}

TEST(Record, RefusesNoBufferToACuptiThatCannotBearIt) {
  const Recorded run = record("burst 60000", "--buffers 8", "FAKE_CUDA_SLOW_FLUSH=1 FAKE_CUDA_VERSION=24");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("finished"), std::string::npos);
  const trace::LedgerRow row = ledger_of(run);
  EXPECT_GT(row.dropped, 0);
  EXPECT_EQ(row.launched, row.recorded + row.untimed + row.refused + row.undelivered);
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
}

TEST(Record, TakesRecordsAndMarksOfManyThreads) {
  const Recorded run = record("threads 8");
  const ReadBack read(run.file());
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 4000);
  EXPECT_EQ(read.named("mark").size(), 4000U);
  std::map<trace::LaneId, int> launches;
  for (const OperationId launch : read.named(kLaunch)) ++launches[read.trace.lane_of(launch)];
  EXPECT_EQ(launches.size(), 8U);
}

TEST(Record, StopsAndGoesOnAsTheProgramSays) {
  const Recorded run = record("start_and_stop");
  const ReadBack read(run.file());
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 15);
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
}

TEST(Record, DoesNotFlushWhereNothingIsUsed) {
  const Recorded run = record("idle");
  EXPECT_NE(run.out.find("flushes 0"), std::string::npos) << run.out;
  EXPECT_TRUE(run.files().empty()) << "a process without device work leaves no file";
  EXPECT_NE(run.err.find("no device work became known"), std::string::npos) << run.err;
}

TEST(Record, FollowsTheMemoryOfTheDriver) {
  const Recorded run = record("memory");
  const ReadBack read(run.file());
  const auto events = read.named("[memory]");
  ASSERT_EQ(events.size(), 3U);
  using trace::AllocationAction;
  const std::vector<trace::AllocationDetail> expected{
      {.action = AllocationAction::kSegmentAlloc, .address = 0x1000, .bytes = 4096, .total_reserved = 4096},
      {.action = AllocationAction::kSegmentAlloc, .address = 0x9000, .bytes = 512, .total_reserved = 4608},
      {.action = AllocationAction::kSegmentFree, .address = 0x1000, .bytes = 4096, .total_reserved = 512}};
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(*read.trace.allocation(events[i]), expected[i]) << i;
  const auto calls = read.named("cudaMalloc");
  ASSERT_EQ(calls.size(), 2U);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(read.trace.lane_of(events[i]), read.trace.lane_of(calls[i])) << "the thread is the call's";
  }
  EXPECT_TRUE(ReadBack(record("memory", "--light").file()).named("[memory]").empty());
}

TEST(Record, TakesIdsThatTheProgramGaveItsCalls) {
  const Recorded run = record("external_ids");
  ASSERT_EQ(run.status, 0) << run.err;
  const ReadBack read(run.file());
  std::vector<std::optional<std::uint64_t>> ids;
  for (const trace::OperationId call : read.named("cudaLaunchKernel")) {
    const trace::Note* note = read.trace.note(call);
    ids.push_back(note == nullptr ? std::nullopt : std::optional(note->external->id));
    EXPECT_TRUE(note == nullptr || note->external->kind == trace::ExternalKind::kCustom0);
  }
  EXPECT_EQ(ids, (std::vector<std::optional<std::uint64_t>>{17, 17, 17, std::nullopt}));
  const trace::Note* of_record = read.trace.note(read.named("cudaEventRecord").at(0));
  ASSERT_NE(of_record, nullptr);
  EXPECT_EQ(of_record->external->id, 18U);
  EXPECT_EQ(read.diagnostics.count_of("record.left_out_external_id"), 1) << "of a call that is muted";
}

TEST(Record, KeepsWhatTheDiskHadRoomFor) {
  // A limit on the size of files stands for a full disk: writing fails in the same place.
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string command = "trap '' XFSZ; ulimit -f 2000; exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER
                              " " INTERLACE_RECORD_BINARY " --out " +
                              base + "/trace -- " FAKE_PROGRAM " flood 2 >" + base + "/out 2>" + base + "/err";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string said = text_of(base + "/err");
  EXPECT_EQ(text_of(base + "/out"), "injected 1\nfinished\n") << "the program runs on";
  EXPECT_NE(said.find("the recording ends here, the program goes on: "), std::string::npos) << said;
  EXPECT_NE(said.find("NOT OK"), std::string::npos) << said;
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  EXPECT_GT(count_of(read.trace, OperationKind::kKernel), 1'000);
  EXPECT_EQ(read.diagnostics.count_of("record.write_failed"), 1);
  EXPECT_EQ(read.diagnostics.count_of("record.ended_abruptly"), 0) << "more than the last flush is missing";
}

TEST(Record, MakesItsFolderWhereThereIsNone) {
  // As on another host than the launcher's.
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string run =
      "env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " CUDA_INJECTION64_PATH=" COLLECTOR_LIBRARY " INTERLACE_RECORD_DIR=";
  const std::string rest = " " FAKE_PROGRAM " launches 5 >" + base + "/out 2>" + base + "/err";
  EXPECT_EQ(std::system((run + base + "/a/b" + rest).c_str()), 0);
  EXPECT_EQ(count_of(ReadBack(folder.path() / "a" / "b" / "rank0.ilt").trace, OperationKind::kKernel), 5);
  EXPECT_EQ(std::system((run + "/proc/none" + rest).c_str()), 0);
  EXPECT_NE(text_of(base + "/err").find("cannot write to /proc/none"), std::string::npos) << text_of(base + "/err");
  EXPECT_NE(text_of(base + "/out").find("finished"), std::string::npos);
}

// How programs end.

TEST(Record, SurvivesAForkedChildThatExits) {
  const Recorded run = record("fork");
  ASSERT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("child ended with 0"), std::string::npos) << run.out;
  const ReadBack read(run.file());
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 200);
  EXPECT_EQ(read.named("in the child").size(), 0U);
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
  EXPECT_EQ(run.files().size(), 1U);
}

/// The scenario did three steps and was idle for five flushes before it ended.
void expect_three_steps_sealed(const Recorded& run) {
  const ReadBack read(run.file());
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 6);
  EXPECT_EQ(read.diagnostics.count_of("record.ended_abruptly"), 1);
  EXPECT_EQ(read.diagnostics.count_of("ilt.truncated"), 0) << "the launcher seals the file";
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
}

TEST(Record, KeepsWhatWasWrittenBeforeExitWithoutHandlers) {
  const Recorded run = record("os_exit");
  EXPECT_EQ(WEXITSTATUS(run.status), 5);
  expect_three_steps_sealed(run);
}

TEST(Record, KeepsWhatWasWrittenBeforeAbort) {
  const Recorded run = record("abort");
  EXPECT_TRUE(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGABRT);
  expect_three_steps_sealed(run);
}

TEST(Record, KeepsWhatWasWrittenBeforeKill) {
  const Recorded run = record("kill");
  EXPECT_TRUE(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGKILL);
  expect_three_steps_sealed(run);
  EXPECT_NE(run.err.find("by signal 9"), std::string::npos) << run.err;
}

TEST(Record, WritesAFileForEachProgramOfAProcess) {
  const Recorded run = record("exec");
  ASSERT_EQ(run.status, 0);
  expect_three_steps_sealed(run);
  const ReadBack second(run.file(1));
  EXPECT_EQ(count_of(second.trace, OperationKind::kKernel), 7);
  EXPECT_EQ(second.diagnostics.entries().size(), 0U);
}

TEST(Record, PassesSignalsOn) {
  // The program tells of its launches until `timeout` sends SIGTERM to the launcher alone.
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string command = "LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER
                              " timeout --foreground --preserve-status -s TERM 3 " INTERLACE_RECORD_BINARY " --out " +
                              base + "/trace -- " FAKE_PROGRAM " run >" + base + "/out 2>" + base + "/err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  const std::string out = text_of(base + "/out");
  const std::size_t last = out.rfind("launched ");
  ASSERT_NE(last, std::string::npos) << text_of(base + "/err");
  const std::int64_t told = std::stoll(out.substr(last + 9));
  const ReadBack read(folder.path() / "trace" / "rank0.ilt");
  EXPECT_GT(count_of(read.trace, OperationKind::kKernel), told / 2);
  EXPECT_EQ(read.diagnostics.count_of("record.ended_abruptly"), 1);
}

/// What the scenario `count_signals` saw of a signal that `sender` sends, a shell command in which $1 runs the
/// recorder.
std::string signals_seen(int signal, const std::string& sender) {
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  std::ofstream(base + "/run") << "exec env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY " --out "
                               << base << "/trace -- " FAKE_PROGRAM " count_signals " << signal << " >" << base
                               << "/out 2>" << base << "/err\n";
  static_cast<void>(std::system(("set -- 'sh " + base + "/run'; " + sender).c_str()));
  const std::string out = text_of(base + "/out");
  const std::size_t at = out.find("signals ");
  return at == std::string::npos ? out : out.substr(at + 8, 1);
}

TEST(Record, GivesTheProgramASignalOnceHoweverItIsSent) {
  EXPECT_EQ(signals_seen(SIGTERM, "timeout 1 $1"), "1") << "to the launcher, and to its group";
  EXPECT_EQ(signals_seen(SIGTERM, "timeout --foreground 1 $1"), "1") << "to the launcher alone";
  EXPECT_EQ(signals_seen(SIGUSR1, "setsid $1 & sleep 1; kill -USR1 -$!; wait"), "1") << "to the group";
  EXPECT_EQ(signals_seen(SIGALRM, "$1 & sleep 1; kill -ALRM $!; wait"), "1") << "not only those that end programs";
}

TEST(Record, EndsWhereItsStarterIgnoresTheEndOfChildren) {
  testing::TemporaryFolder folder;
  const std::string command = "exec timeout 10 env --ignore-signal=CHLD " INTERLACE_RECORD_BINARY " --out " +
                              folder.path().string() + "/trace -- sh -c 'exit 3' 2>" + folder.path().string() + "/err";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3);
}

TEST(Record, FetchesRecordsBeforeTheirContextIsGone) {
  const Recorded run = record("destroy_context");
  EXPECT_NE(run.out.find("flushed 1"), std::string::npos) << run.out;
}

TEST(Record, SaysThatAProgramUsedNoCuda) {
  testing::TemporaryFolder folder;
  const std::string command = INTERLACE_RECORD_BINARY " --out " + folder.path().string() + "/trace -- true 2>" +
                              folder.path().string() + "/err";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_NE(text_of(folder.path() / "err").find("NOT OK: nothing was recorded"), std::string::npos);
}

TEST(Record, EndsThoughTheDriverHangs) {
  const Recorded run = record("unfinished", {}, "FAKE_CUDA_HANG=1");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("did not hand over its last records in time"), std::string::npos) << run.err;
  EXPECT_EQ(count_of(ReadBack(run.file()).trace, OperationKind::kKernel), 10);
}

TEST(Record, EndsTheProgramThoughCudaHangsToo) {
  const Recorded run = record("unfinished_status 7", {},
                              "FAKE_CUDA_HANG=1 FAKE_CUDA_HANG_AT_EXIT=1 INTERLACE_RECORD_TEARDOWN_NS=2000000000");
  EXPECT_EQ(WEXITSTATUS(run.status), 7);
  EXPECT_NE(run.err.find("did not hand over its last records in time"), std::string::npos) << run.err;
}

TEST(Record, LetsAProgramSaveItsResultsThoughTheDriverHangs) {
  // Its handler takes longer than an exit may stand still, but does not stand still.
  const Recorded run = record("early_slow_exit 40", {}, "FAKE_CUDA_HANG=1 INTERLACE_RECORD_TEARDOWN_NS=2000000000");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("results saved"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("did not hand over its last records in time"), std::string::npos) << run.err;
}

// What can be in the way.

TEST(Record, RunsTheProgramWithoutADriver) {
  const Recorded run = record("launches 5", {}, "FAKE_CUDA_NO_DRIVER=1");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("finished"), std::string::npos);
  EXPECT_NE(run.err.find("CUPTI cannot be used: CUPTI_ERROR_UNKNOWN"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("NOT OK"), std::string::npos) << run.err;
}

TEST(Record, RunsAProgramThatMayHaveNoMoreThreads) {
  const Recorded run = record("early_without_threads");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("SIGTERM is free"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("finished"), std::string::npos);
  EXPECT_NE(run.err.find("nothing is recorded: "), std::string::npos) << run.err;
}

TEST(Record, SaysQuietlyWhatWentWrongAndNothingElse) {
  EXPECT_EQ(record("launches 3", "--quiet").err, "");
  const Recorded held = record("steps 3", "--quiet", "FAKE_CUDA_HOLDER='Nsight Systems'");
  EXPECT_NE(held.err.find("another tool holds CUPTI (Nsight Systems)"), std::string::npos) << held.err;
  const Recorded lost = record("undelivered 5", "--quiet");
  EXPECT_NE(lost.err.find("NOT OK rank0.ilt"), std::string::npos) << lost.err;
  EXPECT_EQ(lost.err.find("next: "), std::string::npos) << lost.err;
}

TEST(Record, SaysWhichToolHoldsCuptiAndRecordsTheRest) {
  const Recorded run = record("steps 3", {}, "FAKE_CUDA_HOLDER='Nsight Systems'");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("another tool holds CUPTI (Nsight Systems)"), std::string::npos) << run.err;
  const ReadBack read(run.file());
  EXPECT_EQ(read.named("step").size(), 3U) << "the program's own ranges need no CUPTI";
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 0);
}

TEST(Record, TakesRanksWithAndWithoutCuptiForOneRecording) {
  const std::string program = "FAKE_CUDA_HOLDER=other WORLD_SIZE=2 RANK=";
  const std::string rest = " " FAKE_PROGRAM " steps 3; ";
  const Recorded run = record_program("sh -c '" + program + "0" + rest + program + "1" + rest +
                                      "unset FAKE_CUDA_HOLDER; " + "WORLD_SIZE=2 RANK=0" + rest + "'");
  ASSERT_EQ(run.files().size(), 3U) << run.err;
  EXPECT_NE(run.err.find(", processes "), std::string::npos) << "the note of both: " << run.err;
  const std::string folder = run.folder->path().string();
  EXPECT_EQ(std::system((INTERLACE_BINARY " info " + folder + "/trace >/dev/null 2>" + folder + "/info").c_str()), 0)
      << text_of(folder + "/info");
}

TEST(Record, KnowsItsRank) {
  const Recorded run = record("launches 3", {}, "RANK=5 WORLD_SIZE=8");
  const ReadBack read(run.file(5));
  ASSERT_EQ(read.trace.ranks().size(), 1U);
  EXPECT_EQ(read.trace.ranks()[0].number, 5);
  EXPECT_EQ(read.trace.ranks()[0].world_size, 8);
}

TEST(Record, RefusesToMixRecordings) {
  const Recorded run = record("launches 3");
  const std::string again = "LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY " --out " +
                            (run.folder->path() / "trace").string();
  const std::string rest = " -- " FAKE_PROGRAM " launches 4 >/dev/null 2>" + (run.folder->path() / "err").string();
  EXPECT_EQ(WEXITSTATUS(std::system((again + rest).c_str())), 1);
  EXPECT_NE(text_of(run.folder->path() / "err").find("record.folder_in_use"), std::string::npos);
  EXPECT_EQ(WEXITSTATUS(std::system((again + " --overwrite" + rest).c_str())), 0);
  EXPECT_EQ(count_of(ReadBack(run.file()).trace, OperationKind::kKernel), 4);
}

TEST(Record, OverwritesNothingWhereItRefusesTheRequest) {
  const Recorded run = record("launches 3");
  const std::string folder = run.folder->path().string();
  for (const char* refused : {"--window 20:10", "--last 0", "--step-seconds x"}) {
    const std::string command = "LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY " --overwrite --out " +
                                folder + "/trace " + refused + " -- " FAKE_PROGRAM " launches 4 >/dev/null 2>" +
                                folder + "/err";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << refused;
    EXPECT_TRUE(std::filesystem::exists(run.file())) << refused;
  }
  EXPECT_EQ(count_of(ReadBack(run.file()).trace, OperationKind::kKernel), 3);
}

TEST(Record, OverwritesNoFileThatIsBeingWritten) {
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const std::string run = "env LD_LIBRARY_PATH=" FAKE_CUDA_FOLDER " " INTERLACE_RECORD_BINARY " --overwrite --out " +
                          base + "/trace -- " FAKE_PROGRAM " for_seconds ";
  const std::string command = "(" + run + "20 >/dev/null 2>" + base + "/first) & sleep 1; " + run + "1 >/dev/null 2>" +
                              base + "/second; echo $? >" + base + "/status; wait";
  static_cast<void>(std::system(command.c_str()));
  EXPECT_EQ(text_of(base + "/status"), "1\n");
  EXPECT_NE(text_of(base + "/second").find("a process still records into it"), std::string::npos);
  EXPECT_EQ(text_of(base + "/first").find("NOT OK"), std::string::npos) << text_of(base + "/first");
}

TEST(Record, SaysWhyAProgramCannotBeStarted) {
  testing::TemporaryFolder folder;
  const std::string command = INTERLACE_RECORD_BINARY " --out " + folder.path().string() + "/trace -- " +
                              folder.path().string() + "/no_such_program 2>" + folder.path().string() + "/err";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_NE(text_of(folder.path() / "err").find("record.cannot_run"), std::string::npos);
}

// A slip in an option is no program to start; what stands behind -- is one, whatever its name.
TEST(Record, SaysWhatIsWrongWithItsOptions) {
  testing::TemporaryFolder folder;
  const std::string base = folder.path().string();
  const auto said = [&](const std::string& words, int status) {
    const std::string command = "cd " + base + " && " INTERLACE_RECORD_BINARY " " + words + " 2>err";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), status) << words;
    return text_of(folder.path() / "err");
  };
  EXPECT_EQ(said("--max-nb 3 -- true", 2),
            "error[cli.usage]: \"--max-nb\" is no option of interlace record; did you mean \"--max-mb\"? (--help says "
            "more)\n");
  EXPECT_EQ(said("--light", 2), "error[cli.usage]: no program is named (put it behind the options: -- PROGRAM)\n");
  EXPECT_NE(said("--steps none -- true --x", 2).find("error[cli.usage]: --steps: "), std::string::npos);
  EXPECT_NE(said("--steps none true --x", 2).find("error[cli.usage]: --steps: "), std::string::npos);
  EXPECT_NE(said("-- --no-program", 1).find("record.cannot_run"), std::string::npos);
}

TEST(Record, LightModeLeavesOutOtherCalls) {
  const Recorded run = record("steps 4", "--light");
  const ReadBack read(run.file());
  EXPECT_EQ(count_of(read.trace, OperationKind::kKernel), 8);
  EXPECT_EQ(read.named(kLaunch).size(), 8U);
  EXPECT_EQ(read.named("cudaEventQuery").size(), 0U);
  EXPECT_TRUE(ledger_of(run).is_closed()) << run.err;
  EXPECT_EQ(ledger_of(run).launched, 12) << "eight kernels, four copies";
  expect_waits_joined(run, 4);
}

TEST(Record, TakesLaunchesByTheDriversOwnFunctions) {
  for (const char* options : {"", "--light"}) {
    const Recorded run = record("named_steps 3", options);
    EXPECT_EQ(ledger_of(run).launched, 30) << options;
    EXPECT_EQ(ReadBack(run.file()).named("cuLaunchKernel").size(), 6U) << options;
  }
}

}  // namespace
}  // namespace interlace::collector
