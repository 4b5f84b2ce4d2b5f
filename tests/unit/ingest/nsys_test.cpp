// What exports of Nsight Systems become.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/read.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/nsys_export.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/ingest/recordings.hpp"

namespace interlace::ingest {
namespace {

using testing::NsysExport;
using testing::TemporaryFolder;
using trace::OperationId;
using trace::OperationKind;
using trace::RangeKind;
using trace::SyncKind;
using trace::Trace;

constexpr std::int64_t kPid = NsysExport::kPid;

Recording read_export(const NsysExport& written) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> files{folder.write("run.sqlite", written.bytes())};
  return read(files);
}

OperationId the(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.name(OperationId{i}) == name) return OperationId{i};
  }
  throw std::out_of_range("no operation is named " + std::string(name));
}

bool has(const Trace& trace, std::string_view name) {
  return std::ranges::any_of(trace.names(), [&](trace::StringId id) { return trace.text(id) == name; });
}

/// Everything that Nsight Systems tells of an operation, as text, for a comparison that shows what differs.
std::string as_told(const Trace& trace, OperationId op) {
  const auto& lane = trace.lane(trace.lane_of(op));
  std::string text = std::to_string(trace.origin() + trace.start(op)) + "+" + std::to_string(trace.duration(op));
  text.append(" rank ").append(std::to_string(trace.ranks()[lane.rank.index()].number));
  // Kineto gives its own overhead a process of its own.
  const auto* overhead = trace.range(op);
  const bool is_overhead = overhead != nullptr && overhead->kind == RangeKind::kProfilerOverhead;
  text.append(" lane ").append(std::to_string(is_overhead ? 0 : lane.process));
  text.append(".").append(std::to_string(lane.number & 0xFFFFFF));  // of Kineto, some are addresses
  text.append(" ").append(to_string(trace.kind(op))).append(" ").append(trace.name(op));
  const auto stream = [&](std::optional<trace::LaneId> id) { return id ? trace.lane(*id).number : -1; };
  const auto add = [&](std::string_view name, std::int64_t value) {
    text.append(" ").append(name).append("=").append(std::to_string(value));
  };
  if (const auto launch = trace.launch_of(op)) add("launched at", trace.origin() + trace.start(*launch));
  if (const auto* kernel = trace.kernel(op)) {
    for (const std::int32_t size : kernel->grid) add("grid", size);
    for (const std::int32_t size : kernel->block) add("block", size);
    add("registers", kernel->registers_per_thread);
    add("shared", kernel->shared_memory);
    add("priority", lane.priority.value_or(-99));
  }
  if (const auto* copy = trace.copy(op)) {
    add("bytes", copy->bytes);
    text.append(" ").append(to_string(copy->source)).append("->").append(to_string(copy->destination));
    add("peer", copy->peer ? 1 : 0);
  }
  if (const auto* sync = trace.sync(op)) {
    text.append(" ").append(to_string(sync->kind));
    add("stream", stream(sync->stream));
    add("event", sync->event.value_or(-1));
    add("record", sync->record ? trace.origin() + trace.start(*sync->record) : -1);
    add("recorded on", stream(sync->record_stream));
  }
  if (const auto* range = trace.range(op)) {
    text.append(" ").append(to_string(range->kind));
    add("sequence", range->sequence_number.value_or(-1));
  }
  return text;
}

std::vector<std::string> all_told(const Trace& trace) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    const auto* range = trace.range(op);
    const bool is_untold = trace.kind(op) == OperationKind::kDeviceRange ||
                           trace.kind(op) == OperationKind::kAllocation ||
                           (range != nullptr && range->kind == RangeKind::kPython);
    if (!is_untold) all.push_back(as_told(trace, op));
  }
  std::ranges::sort(all);
  return all;
}

// Two ranks of a real run, as Kineto recorded it, and as Nsight Systems would have written it.
TEST(NsysExportOfARun, IsReadAsTheRunWas) {
  const Recording kineto =
      read(std::vector{sample("torchrec_c6/sparse.r0.json.gz"), sample("torchrec_c6/sparse.r1.json.gz")});
  const TemporaryFolder folder;
  const Recording nsys = read(std::vector{folder.write("run.sqlite", testing::nsys_export_of(kineto.trace))});

  const auto expected = all_told(kineto.trace);
  const auto found = all_told(nsys.trace);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i]);
  ASSERT_EQ(nsys.trace.ranks().size(), 2U);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(nsys.trace.ranks()[r].number, static_cast<std::int32_t>(r));
    EXPECT_EQ(nsys.trace.ranks()[r].process_id, kineto.trace.ranks()[r].process_id);
    EXPECT_EQ(nsys.trace.ranks()[r].producer, "Nsight Systems 2026.2.1.210, schema 3.25.0");
    ASSERT_EQ(nsys.trace.ranks()[r].devices.size(), 1U);
    EXPECT_EQ(nsys.trace.ranks()[r].devices[0].name, "NVIDIA H200");
    EXPECT_EQ(nsys.trace.ranks()[r].devices[0].sm_count, 132);
    EXPECT_EQ(nsys.trace.ranks()[r].devices[0].max_threads_per_sm, 2048);
  }
}

TEST(Nsys, CallsLaunchAndLoseTheirVersion) {
  NsysExport run;
  run.call("cudaLaunchKernel_ptsz_v7000", 100, 110, 1).call("cudaStreamGetCaptureInfo_v2_v11030", 120, 121, 2);
  run.kernel("gemm", 7, 150, 250, 1);
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  const OperationId kernel = the(trace, "gemm");
  EXPECT_EQ(trace.launch_of(kernel), the(trace, "cudaLaunchKernel_ptsz"));
  EXPECT_TRUE(has(trace, "cudaStreamGetCaptureInfo_v2"));
  EXPECT_EQ(trace.kernel(kernel)->blocks(), 8);
  EXPECT_EQ(trace.duration(kernel), 100);
}

TEST(Nsys, TimesAreOfTheWallClock) {
  NsysExport run;
  run.kernel("gemm", 7, 150, 250, 1);
  run.row("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", 1'700'000'000'000'000'000}});
  EXPECT_EQ(read_export(run).trace.origin(), 1'700'000'000'000'000'150);
  run.row("META_DATA_EXPORT", {{"name", "EXPORT_PARAM_TIME_NORMALIZE"}, {"value", "true"}});
  EXPECT_EQ(read_export(run).trace.origin(), 150);
}

void synchronize(NsysExport& run, std::string_view table, std::int64_t correlation, std::int64_t stream,
                 std::int64_t event, std::int64_t number, std::int64_t type = 2) {
  const NsysExport::Cell last =
      table == "CUPTI_ACTIVITY_KIND_CUDA_EVENT" ? NsysExport::Cell{"timestamp", 0} : NsysExport::Cell{"syncType", type};
  run.row(table, {{"deviceId", 0},
                  {"contextId", 1},
                  {"streamId", stream},
                  {"correlationId", correlation},
                  {"globalPid", NsysExport::global(kPid)},
                  {"eventId", event},
                  {"eventSyncId", number},
                  last});
}

TEST(Nsys, WaitsKnowTheirRecord) {
  NsysExport run;
  run.kernel("gemm", 7, 150, 250, 9);
  // The rows of an export come in any order: the wait before its record, and both before their calls.
  run.call("cudaStreamWaitEvent_v3020", 120, 121, 2).call("cudaEventRecord_v3020", 110, 111, 1);
  run.call("cudaStreamWaitEvent_v3020", 130, 131, 3).call("cudaStreamSynchronize_v3020", 140, 160, 4);
  synchronize(run, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 2, 13, 5, 77);
  synchronize(run, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 3, 13, 5, 78);
  // As 2026.1 writes it: of the type of waits, without an event.
  synchronize(run, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 4, 7, UINT32_MAX, UINT32_MAX);
  synchronize(run, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 50, 7, UINT32_MAX, 0);
  synchronize(run, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", 1, 7, 5, 77);
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;

  const auto* wait = trace.sync(the(trace, "cudaStreamWaitEvent"));
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->kind, SyncKind::kStreamWaitEvent);
  EXPECT_EQ(trace.lane(*wait->stream).number, 13);
  EXPECT_EQ(wait->record, the(trace, "cudaEventRecord"));
  EXPECT_EQ(trace.lane(*wait->record_stream).number, 7);
  EXPECT_EQ(wait->event, 5);
  const auto* synchronized = trace.sync(the(trace, "cudaStreamSynchronize"));
  EXPECT_EQ(synchronized->kind, SyncKind::kStreamSync);
  EXPECT_EQ(synchronized->event, std::nullopt);
  EXPECT_EQ(recording.diagnostics.count_of("nsys.wait_without_record"), 1);  // that of 78
  EXPECT_EQ(recording.diagnostics.count_of("nsys.sync_without_call"), 1);    // that of 50
}

// Exports before 2024 number events, but not their records: a wait is for the last record of its event before it.
TEST(Nsys, WaitsKnowTheirRecordByTheEventWhereRecordsHaveNoNumber) {
  NsysExport run;
  run.kernel("gemm", 7, 150, 250, 9);
  run.call("cudaEventRecord_v1", 100, 101, 1)
      .call("cudaEventRecord_v2", 110, 111, 2)
      .call("cudaEventRecord_v3", 120, 121, 3);
  run.call("cudaStreamWaitEvent_v3020", 130, 131, 4).call("cudaEventRecordWithFlags_v4", 140, 141, 5);
  run.call("cudaStreamWaitEvent_ptsz_v3020", 90, 91, 6);
  for (const auto& [correlation, stream, event] : {std::tuple{1, 7, 5}, {2, 8, 5}, {3, 9, 6}, {5, 10, 5}}) {
    synchronize(run, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", correlation, stream, event, 0);
  }
  synchronize(run, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 4, 13, 5, 0);
  synchronize(run, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 6, 13, 5, 0);
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  const auto* wait = trace.sync(the(trace, "cudaStreamWaitEvent"));
  ASSERT_TRUE(wait->record.has_value());
  EXPECT_EQ(trace.lane(*wait->record_stream).number, 8);
  EXPECT_EQ(trace.sync(the(trace, "cudaStreamWaitEvent_ptsz"))->record, std::nullopt);  // before all of them
  EXPECT_EQ(recording.diagnostics.count_of("nsys.wait_without_record"), 1);
}

// The column deviceId of synchronisation reads 0 whatever the device is.
TEST(Nsys, StreamsOfWaitsAreOfTheDeviceOfTheirContext) {
  NsysExport run;
  const std::int64_t process = NsysExport::global(kPid);
  run.row("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", 1},
                                         {"end", 2},
                                         {"deviceId", 3},
                                         {"contextId", 2},
                                         {"streamId", 7},
                                         {"correlationId", 9},
                                         {"globalPid", process},
                                         {"shortName", run.text("gemm")}});
  run.call("cudaStreamSynchronize_v3020", 140, 160, 4);
  run.row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"deviceId", 0},
                                                  {"contextId", 2},
                                                  {"streamId", 7},
                                                  {"correlationId", 4},
                                                  {"globalPid", process},
                                                  {"syncType", 3}});
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  EXPECT_EQ(trace.sync(the(trace, "cudaStreamSynchronize"))->stream, trace.lane_of(the(trace, "gemm")));
}

TEST(Nsys, ProcessesBecomeRanksByTheirDevice) {
  NsysExport run;
  const auto kernel = [&](std::int64_t pid, std::int64_t device, std::string_view name) {
    run.row("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", pid},
                                           {"end", pid + 500},
                                           {"deviceId", device},
                                           {"contextId", 1},
                                           {"streamId", 7},
                                           {"correlationId", 1},
                                           {"globalPid", NsysExport::global(pid)},
                                           {"demangledName", run.text(name)}});
  };
  kernel(200, 1, "of the second");
  kernel(300, 0, "of the first");
  run.call("cudaGetDeviceCount_v3020", 1, 2, 1);  // of the launcher
  run.range("main", 1, 2);
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  ASSERT_EQ(trace.ranks().size(), 2U);
  EXPECT_EQ(trace.ranks()[0].process_id, 300);
  EXPECT_EQ(trace.rank_of(the(trace, "of the first")).index(), 0U);
  EXPECT_EQ(trace.rank_of(the(trace, "of the second")).index(), 1U);
  EXPECT_EQ(recording.diagnostics.count_of("nsys.other_process"), 2);
}

TEST(Nsys, HelpersAreNoRanks) {
  NsysExport run;
  run.kernel("gemm", 7, 1'000, 100'000, 1);
  run.row("CUPTI_ACTIVITY_KIND_MEMSET", {{"start", 10},
                                         {"end", 20},
                                         {"deviceId", 0},
                                         {"contextId", 1},
                                         {"streamId", 7},
                                         {"correlationId", 1},
                                         {"globalPid", NsysExport::global(50)},
                                         {"bytes", 64}});
  const Recording recording = read_export(run);
  ASSERT_EQ(recording.trace.ranks().size(), 1U);
  EXPECT_EQ(recording.trace.ranks()[0].process_id, kPid);
  EXPECT_EQ(recording.diagnostics.count_of("nsys.helper_process"), 1);
}

// One row whose end was lost must not make a rank look idle.
TEST(Nsys, ADamagedRowMakesNoHelper) {
  NsysExport run;
  run.kernel("gemm", 7, 1'000, 100'000, 1);
  for (const std::int64_t end : {0, 99'000}) {
    run.row("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", 2'000'000 * (end == 0) + 10},
                                           {"end", end},
                                           {"deviceId", 1},
                                           {"contextId", 1},
                                           {"streamId", 7},
                                           {"correlationId", 1},
                                           {"globalPid", NsysExport::global(50)},
                                           {"shortName", 1}});
  }
  const Recording recording = read_export(run);
  EXPECT_EQ(recording.trace.ranks().size(), 2U);
  EXPECT_EQ(recording.diagnostics.count_of("nsys.helper_process"), 0);
}

TEST(Nsys, ARankThatIsRecordedByItselfTellsItsNumber) {
  const auto number = [](std::initializer_list<std::string_view> environment) {
    NsysExport run;
    run.kernel("gemm", 7, 150, 250, 1);
    for (const std::string_view setting : environment) {
      run.row("META_DATA_CAPTURE", {{"name", "PROCESS_0:ENVIRONMENT_VARIABLE"}, {"value", setting}});
    }
    const Recording recording = read_export(run);
    return std::pair(recording.trace.ranks()[0].number, recording.trace.ranks()[0].world_size);
  };
  const std::optional<std::int32_t> none;
  EXPECT_EQ(number({}), std::pair(0, none));
  EXPECT_EQ(number({"RANK=\"10\"", "WORLD_SIZE=\"16\"", "LOCAL_RANK=\"2\""}), std::pair(10, std::optional(16)));
  EXPECT_EQ(number({"SLURM_NTASKS=4", "SLURM_PROCID=3"}), std::pair(3, std::optional(4)));
  EXPECT_EQ(number({"RANK=\"10\""}), std::pair(0, none));
  EXPECT_EQ(number({"RANK=\"4\"", "WORLD_SIZE=\"4\""}), std::pair(0, none));
}

TEST(Nsys, ProcessesThatNeverRanTogetherAreNoRun) {
  NsysExport run;
  for (const std::int64_t pid : {200, 300}) {
    run.row("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", pid},
                                           {"end", pid + 5},
                                           {"deviceId", 0},
                                           {"contextId", 1},
                                           {"streamId", 7},
                                           {"correlationId", 1},
                                           {"globalPid", NsysExport::global(pid)},
                                           {"demangledName", run.text("gemm")}});
  }
  try {
    (void)read_export(run);
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "ingest.ranks_of_different_runs");
    EXPECT_NE(error.place().find("process 300"), std::string::npos) << error.place();
  }
}

TEST(Nsys, FilesOfRanksAreOfOneRun) {
  const auto of_device = [](std::int64_t device, std::int64_t utc) {
    NsysExport run;
    run.row("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", utc}});
    run.row("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", 100},
                                           {"end", 10'000},
                                           {"deviceId", device},
                                           {"contextId", 1},
                                           {"streamId", 7},
                                           {"correlationId", 1},
                                           {"globalPid", NsysExport::global(100 + device)},
                                           {"demangledName", run.text("gemm " + std::to_string(device))}});
    return run.bytes();
  };
  const TemporaryFolder folder;
  (void)folder.write("a.sqlite", of_device(1, 5'000));
  (void)folder.write("b.sqlite.gz", testing::gzip(of_device(0, 4'000)));
  const Recording recording = read(std::vector{folder.path()});
  ASSERT_EQ(recording.trace.ranks().size(), 2U);
  EXPECT_EQ(recording.trace.origin(), 4'100);
  const OperationId first = the(recording.trace, "gemm 0");
  const OperationId second = the(recording.trace, "gemm 1");
  EXPECT_EQ(recording.trace.ranks()[recording.trace.rank_of(first).index()].number, 0);
  EXPECT_EQ(recording.trace.ranks()[recording.trace.rank_of(second).index()].number, 1);
  EXPECT_EQ(recording.trace.start(second), 1'000);
}

// Each rank sees its only device as 0, and does not say which rank it is.
TEST(Nsys, RanksThatTellNothingAreNumberedByTheNumbersInTheirNames) {
  const TemporaryFolder folder;
  for (const char* const name : {"rank10", "rank2", "rank1"}) {
    NsysExport run;
    run.kernel(name, 7, 100, 10'000 + name[4] + name[5], 1);
    (void)folder.write(std::string(name) + ".sqlite", run.bytes());
  }
  const Recording recording = read(std::vector{folder.path()});
  const Trace& trace = recording.trace;
  const auto number = [&](std::string_view name) {
    return trace.ranks()[trace.rank_of(the(trace, name)).index()].number;
  };
  EXPECT_EQ(number("rank1"), 0);
  EXPECT_EQ(number("rank2"), 1);
  EXPECT_EQ(number("rank10"), 2);
  EXPECT_EQ(recording.diagnostics.count_of("ingest.ranks_by_order"), 3);
}

TEST(Nsys, RangesOfPyTorchAreOperatorsOrAnnotations) {
  NsysExport run;
  run.range("## forward 3 ##, op_id = 11", 1, 50);
  run.range("aten::mul, op_id = 12", 2, 3);
  run.range("MulBackward0, seq = 41, op_id = 13, sizes = [[2, 3]], input_op_ids = [(4, 0)]", 4, 5);
  run.range("detach_, op_id = 14", 6, 7);
  run.range("my::stage, seq = x", 8, 9);
  run.range("Optimizer.step#Adam.step, op_id = 15", 10, 11);
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  const auto kind = [&](std::string_view name) { return trace.range(the(trace, name))->kind; };
  EXPECT_EQ(kind("## forward 3 ##"), RangeKind::kAnnotation);
  EXPECT_EQ(kind("aten::mul"), RangeKind::kCpuOp);
  EXPECT_EQ(kind("MulBackward0"), RangeKind::kCpuOp);
  EXPECT_EQ(trace.range(the(trace, "MulBackward0"))->sequence_number, 41);
  EXPECT_EQ(kind("detach_"), RangeKind::kCpuOp);
  EXPECT_EQ(kind("my::stage, seq = x"), RangeKind::kAnnotation);
  EXPECT_EQ(kind("Optimizer.step#Adam.step"), RangeKind::kAnnotation);
}

TEST(Nsys, RangesHaveDomainsCategoriesAndPayloads) {
  NsysExport run;
  const std::int64_t thread = NsysExport::global(kPid, 101);
  const auto nvtx = [&](std::int64_t type, std::string_view text, std::int64_t domain, NsysExport::Cell more) {
    run.row("NVTX_EVENTS", {{"start", 10},
                            {"eventType", type},
                            {"textId", run.text(text)},
                            {"globalTid", thread},
                            {"domainId", domain},
                            more});
  };
  nvtx(59, "library", 1, {"end", 20});  // before its domain is named
  nvtx(75, "NCCL", 1, {"end", nullptr});
  nvtx(59, "ncclGroupStart", 2, {"end", 20});  // of a domain that was made before the recording began
  nvtx(33, "loading", 0, {"category", 4});
  nvtx(34, "mark", 0, {"category", 4});
  nvtx(34, "counted", 0, {"int64Value", -3});
  nvtx(60, "open", 0, {"end", nullptr});
  nvtx(60, "within", 0, {"end", 30});
  run.row("NVTX_EVENTS", {{"start", 10},
                          {"end", 20},
                          {"eventType", 60},
                          {"text", "across"},
                          {"globalTid", thread},
                          {"endGlobalTid", thread + 1}});
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  EXPECT_EQ(trace.size(), 7U);
  EXPECT_EQ(trace.range(the(trace, "library"))->kind, RangeKind::kOther);
  EXPECT_EQ(trace.range(the(trace, "ncclGroupStart"))->kind, RangeKind::kOther);
  EXPECT_EQ(trace.duration(the(trace, "mark")), 0);
  EXPECT_EQ(trace.text(*trace.note(the(trace, "mark"))->category), "loading");
  EXPECT_EQ(trace.range(the(trace, "mark"))->kind, RangeKind::kAnnotation);
  EXPECT_EQ(trace.note(the(trace, "counted"))->payload->bits, static_cast<std::uint64_t>(-3));
  EXPECT_TRUE(trace.note(the(trace, "open"))->is_open);
  EXPECT_EQ(recording.diagnostics.count_of("nsys.open_range"), 1);
  EXPECT_EQ(trace.range(the(trace, "within"))->kind, RangeKind::kAnnotation);
  EXPECT_EQ(trace.range(the(trace, "across"))->kind, RangeKind::kOther);
}

TEST(Nsys, GraphsRecordedAsOneStayOnTheTimeline) {
  NsysExport run;
  run.call("cudaGraphLaunch_v10000", 10, 20, 1);
  run.row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"start", 30},
                                              {"end", 90},
                                              {"deviceId", 0},
                                              {"contextId", 1},
                                              {"streamId", 7},
                                              {"correlationId", 1},
                                              {"globalPid", NsysExport::global(kPid)},
                                              {"graphId", 3}});
  const Recording recording = read_export(run);
  EXPECT_EQ(recording.trace.launch_of(the(recording.trace, "CUDA graph 3")), the(recording.trace, "cudaGraphLaunch"));
  EXPECT_EQ(recording.diagnostics.count_of("nsys.whole_graph"), 1);
}

TEST(Nsys, OverheadIsOfTheDriverOrOfTheRecorder) {
  NsysExport run;
  run.kernel("gemm", 7, 150, 250, 1);
  const auto overhead = [&](std::string_view name, std::int64_t type) {
    run.row("PROFILER_OVERHEAD", {{"start", 1},
                                  {"end", 2},
                                  {"globalTid", NsysExport::global(kPid, 1)},
                                  {"nameId", run.text(name)},
                                  {"overheadType", type}});
  };
  overhead("Lazy Function Loading", 7);
  overhead("CUPTI Instrumentation", 4);
  const Recording recording = read_export(run);
  const Trace& trace = recording.trace;
  EXPECT_EQ(trace.range(the(trace, "Lazy Function Loading"))->kind, RangeKind::kOther);
  EXPECT_EQ(trace.range(the(trace, "CUPTI Instrumentation"))->kind, RangeKind::kProfilerOverhead);
}

TEST(Nsys, CountsWhatItDoesNotUse) {
  NsysExport run;
  run.call("cudaLaunchKernel_v7000", 1, 2, 1).kernel("ncclDevKernel_SendRecv(args)", 7, 10, 20, 1);
  run.row("OSRT_API", {{"start", 1}, {"end", 2}, {"globalTid", NsysExport::global(kPid, 1)}, {"nameId", 1}});
  run.sql("CREATE TABLE CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS (start INTEGER, end INTEGER, streamId INTEGER)");
  run.sql("INSERT INTO CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS VALUES (1, 2, 7)");
  run.row("DIAGNOSTIC_EVENT", {{"severity", 1}, {"text", "Profiling has started."}});
  run.row("DIAGNOSTIC_EVENT", {{"severity", 3}, {"text", "Some events were lost."}});
  run.row("CUPTI_ACTIVITY_KIND_MEMCPY", {{"start", 5},
                                         {"end", 6},
                                         {"deviceId", 0},
                                         {"streamId", 7},
                                         {"globalPid", NsysExport::global(kPid)},
                                         {"bytes", -1},
                                         {"copyKind", 1}});
  run.row("CUPTI_ACTIVITY_KIND_RUNTIME",
          {{"start", nullptr}, {"globalTid", NsysExport::global(kPid, 1)}, {"nameId", 99}});
  const Recording recording = read_export(run);
  const Diagnostics& found = recording.diagnostics;
  EXPECT_EQ(found.count_of("nsys.unused_table.OSRT_API"), 1);
  EXPECT_EQ(found.count_of("nsys.unused_work.CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS"), 1);
  EXPECT_EQ(found.count_of("nsys.recorder_warning"), 1);
  EXPECT_EQ(found.count_of("nsys.unusable_row"), 2);
  EXPECT_EQ(found.count_of("nsys.unknown_text"), 1);
  EXPECT_EQ(found.count_of("nsys.no_device_properties"), 1);
  EXPECT_EQ(found.count_of("nsys.no_annotations"), 1);
  EXPECT_EQ(found.count_of("nsys.collective_without_metadata"), 1);
  EXPECT_EQ(recording.trace.kind(the(recording.trace, "ncclDevKernel_SendRecv(args)")), OperationKind::kCollective);
}

}  // namespace
}  // namespace interlace::ingest
