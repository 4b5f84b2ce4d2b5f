#include "simulator/ingest/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "simulator/trace/limits.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/ingest/recordings.hpp"

namespace interlace::ingest {
namespace {

using testing::KinetoText;
using testing::TemporaryFolder;
using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

Recording read_files(const std::vector<std::filesystem::path>& files) { return read(files); }

std::map<OperationKind, int> kinds_of(const Trace& trace) {
  std::map<OperationKind, int> kinds;
  for (const OperationKind kind : trace.kinds()) ++kinds[kind];
  return kinds;
}

OperationId named(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.name(OperationId{i}) == name) return OperationId{i};
  }
  throw std::out_of_range("no operation is named " + std::string(name));
}

// The expected counts are those of the file's categories, e.g. by
//   zcat sparse.r0.json.gz | grep -c '"ph": "X", "cat": "cpu_op"'
TEST(Read, KeepsEveryEventOfATorchRecTrace) {
  const Recording recording = read_files({sample("torchrec_c6/sparse.r0.json.gz")});
  auto kinds = kinds_of(recording.trace);

  constexpr int kCpuOps = 3222;
  constexpr int kUserAnnotations = 177;
  constexpr int kOverheads = 3;
  constexpr int kRuntimeCalls = 2610;
  constexpr int kDriverCalls = 60;
  constexpr int kKernels = 654;
  constexpr int kNcclKernels = 33;
  EXPECT_EQ(kinds[OperationKind::kRange], kCpuOps + kUserAnnotations + kOverheads);
  EXPECT_EQ(kinds[OperationKind::kHostCall] + kinds[OperationKind::kEventRecord] + kinds[OperationKind::kStreamWait] +
                kinds[OperationKind::kHostSync],
            kRuntimeCalls + kDriverCalls);
  EXPECT_EQ(kinds[OperationKind::kKernel], kKernels - kNcclKernels);
  EXPECT_EQ(kinds[OperationKind::kCollective], kNcclKernels);
  EXPECT_EQ(kinds[OperationKind::kCopy], 81);
  EXPECT_EQ(kinds[OperationKind::kMemset], 63);
  EXPECT_EQ(kinds[OperationKind::kDeviceRange], 96);
  EXPECT_EQ(recording.diagnostics.count_of("ingest.missing_ranks"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.contradicting_flow"), 0);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.unmatched_forward_backward"), 0);
  EXPECT_EQ(recording.diagnostics.count_of("trace.device_work_without_launch"), 0);
}

TEST(Read, TellsTheFactsOfARank) {
  const Recording recording =
      read_files({sample("torchrec_c6/sparse.r1.json.gz"), sample("torchrec_c6/sparse.r0.json.gz")});
  ASSERT_EQ(recording.trace.ranks().size(), 2U);
  const trace::Rank& rank = recording.trace.ranks()[1];
  EXPECT_EQ(recording.trace.ranks()[0].number, 0);
  EXPECT_EQ(rank.number, 1);
  EXPECT_EQ(rank.world_size, 2);
  EXPECT_EQ(rank.process_id, 1918);
  EXPECT_EQ(rank.producer, "kineto schema 1, CUDA 13.0");
  EXPECT_EQ(rank.run_id, "");  // the trace_id of the two files differs, so it names no run
  ASSERT_EQ(rank.devices.size(), 2U);
  const trace::Device expected{1, "NVIDIA H200", 9, 0, 132, 2048, 65536, 233472, 150109880320};
  EXPECT_EQ(rank.devices[1], expected);
  EXPECT_EQ(recording.diagnostics.count_of("ingest.missing_ranks"), 0);
}

TEST(Read, SaysWhereAFileDoesNotTellItsRank) {
  const Recording recording = read_text(
      KinetoText().field("distributedInfo", R"({"rank": "1", "world_size": 1e12})").annotation("a", "1", "5"));
  EXPECT_EQ(recording.trace.ranks()[0].number, 0);
  EXPECT_FALSE(recording.trace.ranks()[0].world_size);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.unreadable_header"), 2);
}

TEST(Read, PutsRanksOnOneClock) {
  // The same moment, told by two base times: 1000 us after 5,000,000 ns is 2000 us after 4,000,000 ns.
  const TemporaryFolder folder;
  const auto early = KinetoText().rank(0, 2).field("baseTimeNanoseconds", "5000000").annotation("a", "1000", "5");
  const auto late = KinetoText().rank(1, 2).field("baseTimeNanoseconds", "4000000").annotation("b", "2000.007", "1");
  const Recording recording = read_files({folder.write("0.json", early.text()), folder.write("1.json", late.text())});
  EXPECT_EQ(recording.trace.origin(), 6'000'000);
  EXPECT_EQ(recording.trace.start(named(recording.trace, "a")), 0);
  EXPECT_EQ(recording.trace.start(named(recording.trace, "b")), 7);
}

TEST(Read, ReadsDeviceWork) {
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .call("cudaLaunchKernel", "1.000", "2", 11)
          .kernel("gemm", 7, "10.125", "4.5", 11,
                  R"("registers per thread": 40, "shared memory": 4112, "blocks per SM": "inf", "priority": -1,
                     "occupancy": {"activeBlocksPerMultiprocessor": 3, "limitingFactors": [1]}, "graph node id": 0)")
          .call("cudaMemcpyAsync", "4", "1", 12)
          .complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "8", "20", "3",
                    R"-("device": 0, "stream": 8, "correlation": 12, "bytes": 4096, "memory bandwidth (GB/s)": "N/A")-")
          .complete("gpu_memset", "Memset (Device)", "0", "8", "30", "1",
                    R"("device": 0, "stream": 8, "correlation": 13, "bytes": 16)")
          .complete("gpu_user_annotation", "## forward ##", "0", "7", "10", "6"));
  const Trace& trace = recording.trace;

  const OperationId gemm = named(trace, "gemm");
  EXPECT_EQ(trace.kind(gemm), OperationKind::kKernel);
  EXPECT_EQ(trace.start(gemm), 9'125);  // the trace begins with the launch at 1 us
  EXPECT_EQ(trace.duration(gemm), 4'500);
  const trace::KernelDetail detail{{4, 2, 1}, {128, 1, 1}, 40, 4112, 3, -1, std::nullopt};
  EXPECT_EQ(*trace.kernel(gemm), detail);
  EXPECT_EQ(trace.launch_of(gemm), named(trace, "cudaLaunchKernel"));
  const trace::Lane& stream = trace.lane(trace.lane_of(gemm));
  EXPECT_EQ(stream.kind, trace::LaneKind::kStream);
  EXPECT_EQ(stream.process, 0);
  EXPECT_EQ(stream.number, 7);
  EXPECT_EQ(stream.priority, -1);
  const trace::Lane& thread = trace.lane(trace.lane_of(named(trace, "cudaLaunchKernel")));
  EXPECT_EQ(thread.kind, trace::LaneKind::kHostThread);
  EXPECT_EQ(thread.process, 100);
  EXPECT_EQ(thread.number, 101);

  const trace::CopyDetail up{4096, trace::MemorySpace::kPinned, trace::MemorySpace::kDevice, false};
  EXPECT_EQ(*trace.copy(named(trace, "Memcpy HtoD (Pinned -> Device)")), up);
  EXPECT_EQ(trace.kind(named(trace, "Memset (Device)")), OperationKind::kMemset);
  EXPECT_EQ(trace.copy(named(trace, "Memset (Device)"))->bytes, 16);
  EXPECT_EQ(trace.kind(named(trace, "## forward ##")), OperationKind::kDeviceRange);
  EXPECT_EQ(trace.lane_of(named(trace, "## forward ##")), trace.lane_of(gemm));
  EXPECT_EQ(recording.diagnostics.count_of("trace.device_work_without_launch"), 1);  // the memset
}

TEST(Read, LeavesOutDeviceWorkWhoseTimesWereLost) {
  // The first kernel reads zero, which is 25 days before the rest; the second has a length all the same.
  const Recording recording = read_text(KinetoText()
                                            .rank(0, 1)
                                            .call("cudaLaunchKernel", "2202803978000", "2", 1)
                                            .call("cudaLaunchKernel", "2202803978010", "2", 2)
                                            .call("cudaLaunchKernel", "2202803978020", "2", 3)
                                            .kernel("lost", 7, "0", "0", 1)
                                            .kernel("early", 7, "0", "3", 2)
                                            .kernel("timed", 7, "2202803978030", "3", 3));
  EXPECT_EQ(recording.trace.length(), 33'000);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.untimed_work"), 2);
  EXPECT_EQ(recording.diagnostics.count_of("trace.launch_without_device_work"), 2);
}

TEST(Read, ACallWithoutATimeHidesNoLostOnes) {
  const Recording recording = read_text(KinetoText()
                                            .rank(0, 1)
                                            .call("cudaLaunchKernel", "0", "2", 1)
                                            .call("cudaLaunchKernel", "2202803978010", "2", 2)
                                            .kernel("lost", 7, "0", "3", 2)
                                            .kernel("timed", 7, "2202803978030", "3", 3));
  EXPECT_EQ(recording.diagnostics.count_of("kineto.untimed_work"), 1);
}

TEST(Read, ReadsCollectives) {
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .kernel("ncclDevKernel_SendRecv(args)", 17, "1", "2", 1,
                  R"("Collective name": "all_to_allv", "In msg nelems": 14, "Out msg nelems": 15, "Group size": 2,
                     "dtype": "Long", "Process Group Name": "0", "Seq": 5, "Comms Id": 18446744073709551616)")
          .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 17, "5", "2", 2)
          .kernel("custom_all_to_all", 17, "9", "2", 3, R"("Collective name": "all_to_all", "dtype": "Strange")"));
  const Trace& trace = recording.trace;

  const OperationId first = named(trace, "ncclDevKernel_SendRecv(args)");
  EXPECT_EQ(trace.kind(first), OperationKind::kCollective);
  ASSERT_NE(trace.collective(first), nullptr);
  const trace::CollectiveDetail& told = *trace.collective(first);
  EXPECT_EQ(told.function, trace::CollectiveFunction::kAllToAll);
  EXPECT_EQ(trace.text(told.name), "all_to_allv");
  EXPECT_EQ(trace.text(told.dtype), "Long");
  EXPECT_EQ(trace.text(told.group), "0");
  EXPECT_EQ(told.in_elements, 14);
  EXPECT_EQ(told.out_elements, 15);
  EXPECT_EQ(told.group_size, 2);
  EXPECT_EQ(told.sequence, 5);
  EXPECT_EQ(told.element_bytes, 8);

  const OperationId second = named(trace, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)");
  EXPECT_EQ(trace.kind(second), OperationKind::kCollective);
  EXPECT_EQ(trace.collective(second)->function, trace::CollectiveFunction::kAllReduce);
  EXPECT_EQ(trace.collective(second)->group_size, 0);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.collective_without_metadata"), 1);

  EXPECT_EQ(trace.kind(named(trace, "custom_all_to_all")), OperationKind::kCollective);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.unknown_dtype"), 1);
}

// Rank 0 keeps its first 11 of 14 elements, so that the rest begins at byte 88; rank 1 keeps what begins there.
TEST(Read, TellsWhereThePartsOfAnExchangeBegin) {
  const auto exchange_of = [](int rank, std::string_view splits) {
    return read_text(KinetoText().rank(rank, 2).kernel(
        "ncclDevKernel_SendRecv(args)", 17, "1", "2", 1,
        R"("Collective name": "all_to_allv", "In msg nelems": 14, "Out msg nelems": 14, "Group size": 2, "dtype": "Long",
           "Process Group Ranks": "[0, 1]", )" +
            std::string(splits)));
  };
  const auto alignments = [](const Recording& recording) {
    const trace::CollectiveDetail& told =
        *recording.trace.collective(named(recording.trace, "ncclDevKernel_SendRecv(args)"));
    return std::pair(told.part_alignment, told.own_part_alignment);
  };
  const std::string_view uneven = R"("In split size": "[11, 3]", "Out split size": "[11, 3]")";
  EXPECT_EQ(alignments(exchange_of(0, uneven)), std::pair(8, 16));
  EXPECT_EQ(alignments(exchange_of(1, uneven)), std::pair(16, 8));
  EXPECT_EQ(alignments(exchange_of(0, R"("In split size": "[10, 4]", "Out split size": "[12, 2]")")),
            std::pair(16, 16));
  EXPECT_EQ(alignments(exchange_of(0, R"("In split size": "[11, 0]", "Out split size": "[12, 2]")")), std::pair(16, 16))
      << "nothing begins there";
  for (const std::string_view unknown : {R"("In split size": "[]", "Out split size": "[]")",
                                         R"("In split size": "[11, ...]", "Out split size": "[11, ...]")",
                                         R"("In split size": "[11, 2, 1]", "Out split size": "[11, 2, 1]")"}) {
    EXPECT_EQ(alignments(exchange_of(0, unknown)), std::pair(0, 0)) << unknown;
  }
}

TEST(Read, ReadsMemoryEvents) {
  const auto memory = [](std::string_view name, std::string_view at, std::string_view args) {
    return R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": ")" + std::string(name) +
           R"(", "pid": 1, "tid": 2, "ts": )" + std::string(at) + R"(, "args": {)" + std::string(args) + "}}";
  };
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .annotation("step", "0", "9")
          .event(memory("[memory]", "1.5",
                        R"("Addr": 18446744073709551615, "Bytes": 512, "Total Allocated": 1024, "Total Reserved": 4096,
                           "Device Type": 1, "Device Id": 0)"))
          .event(memory("[memory]", "2", R"("Addr": 4096, "Bytes": -256, "Device Type": 0)"))
          .event(memory("[OutOfMemory]", "3", R"("Bytes": 7, "Device Type": 1)"))
          .event(memory("[other]", "4", R"("Bytes": 7)")));
  const Trace& trace = recording.trace;
  ASSERT_EQ(kinds_of(trace)[OperationKind::kAllocation], 3);
  const trace::AllocationDetail allocated{
      trace::AllocationAction::kAlloc, UINT64_MAX, 512, 1024, 4096, std::nullopt, true};
  EXPECT_EQ(*trace.allocation(OperationId{1}), allocated);
  EXPECT_EQ(trace.start(OperationId{1}), 1'500);
  EXPECT_EQ(trace.duration(OperationId{1}), 0);
  const trace::AllocationDetail freed{
      trace::AllocationAction::kFree, 4096, 256, std::nullopt, std::nullopt, std::nullopt, false};
  EXPECT_EQ(*trace.allocation(OperationId{2}), freed);
  EXPECT_EQ(trace.allocation(OperationId{3})->action, trace::AllocationAction::kOutOfMemory);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.ignored_category.cpu_instant_event"), 1);
}

TEST(Read, LeavesOutTotalsThatNoMachineHas) {
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .annotation("step", "0", "9")
          .event(
              R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 2, "ts": 2,
          "args": {"Addr": 4096, "Bytes": 512, "Total Allocated": -9223372036854775808,
                   "Total Reserved": 1125899906842624}})"));
  const trace::AllocationDetail& detail = *recording.trace.allocation(OperationId{1});
  EXPECT_EQ(detail.total_allocated, std::nullopt);
  EXPECT_EQ(detail.total_reserved, trace::kLargestAmount);
}

TEST(Read, LeavesOutAllocationsOfMoreThanCanBeAddedUp) {
  KinetoText text;
  text.rank(0, 1).annotation("step", "0", "9");
  constexpr int kMost = trace::kLargestAmountInAll / trace::kLargestAmount;
  for (int i = 0; i <= kMost; ++i) {
    text.event(R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 2, "ts": 2,
                   "args": {"Addr": 4096, "Bytes": 1125899906842624}})");
  }
  const Recording recording = read_text(text);
  EXPECT_EQ(kinds_of(recording.trace)[OperationKind::kAllocation], kMost);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.malformed_event"), 1);
}

TEST(Read, ReadsTheSpellingsOfOldVersions) {
  // Absolute microseconds, no base time, capital categories.
  const Recording recording = read_text(
      KinetoText()
          .complete("Operator", "aten::add", "5", "6", "1669329643132548", "20")
          .complete("Runtime", "cudaLaunchKernel", "5", "6", "1669329643132550", "3", R"("correlation": 3)")
          .complete("Kernel", "add", "0", "7", "1669329643132560", "2", R"("device": 0, "stream": 7, "correlation": 3)")
          .event(
              R"({"ph": "s", "id": 3, "pid": 5, "tid": 6, "ts": 1669329643132550, "cat": "async_cpu_to_gpu", "name": "async_gpu"})"));
  EXPECT_EQ(recording.trace.origin(), 1'669'329'643'132'548'000);
  EXPECT_EQ(recording.trace.length(), 20'000);
  EXPECT_EQ(recording.trace.launch_of(named(recording.trace, "add")), named(recording.trace, "cudaLaunchKernel"));
  EXPECT_EQ(recording.trace.ranks()[0].number, 0);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.no_annotations"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.no_device_properties"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.contradicting_flow"), 0);
}

TEST(Read, NamesLanes) {
  const auto metadata = [](std::string_view what, int process, int thread, std::string_view name) {
    return R"({"ph": "M", "ts": 0, "name": ")" + std::string(what) + R"(", "pid": )" + std::to_string(process) +
           R"(, "tid": )" + std::to_string(thread) + R"(, "args": {"name": ")" + std::string(name) + R"("}})";
  };
  const Recording recording = read_text(KinetoText()
                                            .rank(0, 1)
                                            .annotation("a", "1", "1")
                                            .complete("cpu_op", "b", "100", "102", "1", "1")
                                            .complete("cpu_op", "c", "100", R"("a worker")", "1", "1")
                                            .kernel("k", 7, "1", "1", 1)
                                            .event(metadata("thread_name", 100, 101, "thread 101 (python3)"))
                                            .event(metadata("thread_name", 0, 7, "stream 7 "))
                                            .event(metadata("thread_name", 0, 99, "stream 99 "))
                                            .event(metadata("process_name", 100, 0, "python3"))
                                            .event(metadata("process_labels", 100, 0, "CPU")));
  const auto lane_name = [&](std::string_view operation) {
    return recording.trace.lane(recording.trace.lane_of(named(recording.trace, operation))).name;
  };
  EXPECT_EQ(lane_name("a"), "thread 101 (python3)");
  EXPECT_EQ(lane_name("b"), "python3");
  EXPECT_EQ(lane_name("c"), "a worker");
  EXPECT_EQ(lane_name("k"), "stream 7");
  EXPECT_EQ(recording.trace.lanes().size(), 4U);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.ignored_category.metadata"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.named_lane"), 1);
}

// A process may be named often and have many threads: naming takes time by the sum of both, never by their product.
TEST(Read, NamesManyProcessesOnce) {
  constexpr int kProcesses = 20'000;
  KinetoText text;
  const auto name = [&](int process, int which) {
    text.event(R"({"ph": "M", "ts": 0, "name": "process_name", "pid": )" + std::to_string(process) +
               R"(, "tid": 0, "args": {"name": "n)" + std::to_string(which) + R"("}})");
  };
  text.rank(0, 1);
  for (int i = 0; i < kProcesses; ++i) {
    text.complete("cpu_op", "a", std::to_string(1000 + i), "1", "1", "1");  // a process each
    text.complete("cpu_op", "a", "7", std::to_string(1000 + i), "1", "1");  // and threads of one
    name(1000 + i, i);
    name(7, i);
  }
  const Recording recording = read_text(text);
  const auto& lanes = recording.trace.lanes();
  ASSERT_EQ(lanes.size(), 2U * kProcesses);
  for (const trace::Lane& lane : lanes) {
    const auto last = lane.process == 7 ? kProcesses - 1 : lane.process - 1000;
    ASSERT_EQ(lane.name, "n" + std::to_string(last));
  }
}

TEST(Read, CountsWhatItDoesNotUse) {
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .annotation("a", "1", "1")
          .complete("Trace", "PyTorch Profiler (0)", R"("Spans")", R"("PyTorch Profiler")", "0", "9")
          .complete("mtia_ccp_events", "x", "1", "2", "3", "4")
          .complete("mtia_ccp_events", "y", "1", "2", "3", "4")
          .event(R"({"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 1})")
          .event(R"({"ph": "C", "name": "counter", "pid": 1, "ts": 1, "args": {"x": 1}})")
          .event(R"({"ph": "X", "cat": "kernel", "name": "no time", "pid": 0, "tid": 7, "dur": 1})")
          .event(R"({"ph": "X", "cat": "cuda_sync", "name": "no correlation", "pid": 0, "tid": 7, "ts": 1, "dur": 1})")
          .event(R"({"name": "no phase"})")
          .complete("gpu_memset", "Memset (Device)", "0", "7", "1", "1", R"("bytes": -1)")
          .kernel("too much", 7, "1", "1", 1, R"("shared memory": 9223372036854775807)")
          .complete("cpu_op", "far away", "1", "2", "4000000000000000", "1"));
  EXPECT_EQ(recording.trace.size(), 1U);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.ignored_category.Trace"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.foreign_device_work.mtia_ccp_events"), 2);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.ignored_category.instant"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.ignored_category.phase_C"), 1);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.malformed_event"), 5);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.time_out_of_range"), 1);
}

TEST(Read, TakesNoWorkOfUnknownLength) {
  const Recording recording = read_text(
      KinetoText()
          .rank(0, 1)
          .event(R"({"ph": "X", "cat": "kernel", "name": "short", "pid": 0, "tid": 7, "ts": 1, "dur": 0})")
          .event(R"({"ph": "X", "cat": "kernel", "name": "no length", "pid": 0, "tid": 7, "ts": 2})")
          .event(R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2})")
          .event(R"({"ph": "B", "cat": "kernel", "name": "begins", "pid": 0, "tid": 7, "ts": 3})")
          .event(R"({"ph": "E", "pid": 0, "tid": 7, "ts": 4})"));
  EXPECT_EQ(recording.trace.size(), 1U);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.malformed_event"), 3);
  EXPECT_EQ(recording.diagnostics.count_of("kineto.ignored_category.phase_E"), 1);
}

TEST(Read, TakesCompressedTextByContentNotByName) {
  const TemporaryFolder folder;
  const std::string text = "\xEF\xBB\xBF" + KinetoText().rank(0, 1).annotation("a", "1", "1").text();
  EXPECT_EQ(read_files({folder.write("plain.gz", text)}).trace.size(), 1U);
  EXPECT_EQ(read_files({folder.write("packed.json", testing::gzip(text))}).trace.size(), 1U);
}

TEST(Read, CountsWhatFollowsTheRecording) {
  const TemporaryFolder folder;
  const std::string text = KinetoText().rank(0, 1).annotation("a", "1", "1").text();
  const auto trailing = [&](const std::string& content) {
    const Recording recording = read_files({folder.write("trace", content)});
    EXPECT_EQ(recording.trace.size(), 1U);
    return recording.diagnostics.count_of("ingest.trailing_bytes");
  };
  EXPECT_EQ(trailing(text), 0);
  EXPECT_EQ(trailing(text + "more"), 4);
  EXPECT_EQ(trailing(testing::gzip(text) + "tail."), 5);
}

TEST(Read, GivesTheSameTraceEveryTime) {
  const std::vector<std::filesystem::path> files{sample("torchrec_c6/base.r0.json.gz"),
                                                 sample("torchrec_c6/base.r1.json.gz")};
  const Recording first = read(files);
  for (int i = 0; i < 5; ++i) {
    const Recording again = read(files);
    ASSERT_TRUE(std::ranges::equal(first.trace.starts(), again.trace.starts()));
    ASSERT_TRUE(std::ranges::equal(first.trace.kinds(), again.trace.kinds()));
    ASSERT_TRUE(std::ranges::equal(first.trace.names(), again.trace.names()));
    ASSERT_TRUE(std::ranges::equal(first.trace.strings(), again.trace.strings()));
    ASSERT_TRUE(std::ranges::equal(first.trace.lanes(), again.trace.lanes()));
    ASSERT_EQ(first.diagnostics.entries(), again.diagnostics.entries());
  }
}

TEST(Read, ReadsEverySample) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sample(""))) {
    if (!entry.path().string().ends_with(".json.gz")) continue;
    SCOPED_TRACE(entry.path());
    const Recording recording = read_files({entry.path()});
    EXPECT_GT(recording.trace.size(), 20U);
    for (const Diagnostic& found : recording.diagnostics.entries()) {
      EXPECT_NE(found.severity, Severity::kDataLoss) << found.code;
    }
    ++files;
  }
  EXPECT_EQ(files, 16);  // 12 of TorchRec, 4 of HTA
}

}  // namespace
}  // namespace interlace::ingest
