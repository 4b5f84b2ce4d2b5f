#include "tests/support/sample_trace.hpp"

#include <bit>
#include <limits>

namespace interlace::trace {

namespace {

constexpr DiagnosticKind kOfReader{"sample.repaired", Severity::kInfo, "something was repaired", "nothing to do"};

struct Sample {
  TraceBuilder builder;
  RankId first = builder.add_rank(
      {.number = 0,
       .world_size = 2,
       .source = "rank0.json",
       .process_id = 4'711,
       .host_name = "node-a",
       .producer = "kineto schema 1",
       .run_id = "r1",
       .devices = {{0, "H200", 9, 0, 132, 2'048, 65'536, 233'472, 150'754'820'096}, {1, "", 0, 0, 0, 0, 0, 0, 0}}});
  RankId second = builder.add_rank({.number = -1});
  LaneId thread = builder.lane(LaneKind::kHostThread, first, 4'711, 4'712);
  LaneId stream = builder.lane(LaneKind::kStream, first, 0, 7);
  LaneId other_thread = builder.lane(LaneKind::kHostThread, second, std::numeric_limits<std::int64_t>::max(), -5);
  LaneId other_stream = builder.lane(LaneKind::kStream, second, 0, 7);

  TraceBuilder::Common at(LaneId lane, std::string_view name, Nanoseconds start, Nanoseconds duration,
                          std::optional<std::int64_t> correlation = {}) {
    return {lane, builder.intern(name), start, duration, correlation};
  }

  void add_device_work(Nanoseconds t) {
    builder.add_kernel(at(stream, "gemm", t + 500, 1'000, 1), {.grid = {8, 2, 1},
                                                               .block = {128, 1, 2},
                                                               .registers_per_thread = 255,
                                                               .shared_memory = 49'152,
                                                               .blocks_per_sm_limit = 2,
                                                               .priority = -5,
                                                               .graph_node = std::int64_t{1} << 62});
    builder.add_kernel(at(stream, "relu", t + 1'600, 0, 1), {});
    builder.add_kernel(at(other_stream, "orphan", t + 1'600, 7, 99), {});
    const CollectiveDetail all_to_all{.function = CollectiveFunction::kAllToAll,
                                      .name = builder.intern("all_to_allv"),
                                      .dtype = builder.intern("Float"),
                                      .group = builder.intern("0"),
                                      .in_elements = 1 << 20,
                                      .out_elements = 77,
                                      .group_size = 2,
                                      .sequence = 12,
                                      .element_bytes = 4};
    builder.add_collective(at(stream, "ncclDevKernel", t + 2'000, 5'000, 2), {}, all_to_all);
    builder.add_collective(at(stream, "ncclDevKernel", t + 7'100, 5'000, 3), {.grid = {24, 1, 1}}, std::nullopt);
    builder.add_collective(at(other_stream, "ncclDevKernel", t + 2'010, 4'990, 2), {}, CollectiveDetail{});
    builder.add_copy(at(stream, "Memcpy HtoD", t + 13'000, 10, 4),
                     {1'024, MemorySpace::kPinned, MemorySpace::kDevice, false});
    builder.add_copy(at(stream, "Memcpy PtoP", t + 13'010, 10),
                     {std::numeric_limits<Bytes>::max(), MemorySpace::kDevice, MemorySpace::kManaged, true});
    builder.add_memset(at(stream, "Memset", t + 13'020, 1, 5), {512, MemorySpace::kDevice, MemorySpace::kDevice});
    builder.add_device_range(at(stream, "## forward ##", t + 500, 6'000), {.kind = RangeKind::kAnnotation});
  }

  void add_host_work(Nanoseconds t) {
    for (const std::int64_t correlation : {1, 2, 3, 4, 5}) {
      builder.add_host_call(at(thread, "cudaLaunchKernel", t + 10 * correlation, 5, correlation));
    }
    builder.add_host_call(at(other_thread, "ncclGroupEnd", t + 20, 5, 2));
    const OperationId wait =
        builder.add_sync(OperationKind::kStreamWait, at(thread, "cudaStreamWaitEvent", t + 70, 2),
                         {.kind = SyncKind::kStreamWaitEvent, .stream = stream, .event = 12, .record_stream = stream});
    builder.sync_detail(wait).record = builder.add_sync(
        OperationKind::kEventRecord, at(thread, "cudaEventRecord", t + 80, 2), {.kind = SyncKind::kEventRecord});
    builder.add_sync(OperationKind::kHostSync, at(thread, "cudaDeviceSynchronize", t + 90, 900), {});
    builder.add_sync(OperationKind::kHostCall, at(thread, "cudaEventQuery", t + 95, 1),
                     {.kind = SyncKind::kEventQuery, .event = -3});
    builder.add_range(at(thread, "inner", t + 10, 80), {.kind = RangeKind::kCpuOp, .sequence_number = 42});
    const OperationId forward = builder.add_range(at(thread, "outer", t + 10, 900), {.kind = RangeKind::kAnnotation});
    builder.add_range(at(thread, "backward", t + 1'000, 10),
                      {.kind = RangeKind::kCpuOp, .forward_thread = -1, .forward_op = forward});
    builder.add_allocation(at(thread, "[memory]", t + 12, 0), {.action = AllocationAction::kAlloc,
                                                               .address = 0xFFFF'FFFF'FFFF'F000,
                                                               .bytes = 512,
                                                               .total_allocated = 512,
                                                               .total_reserved = 2 << 20,
                                                               .stream = stream});
    builder.add_allocation(at(thread, "[memory]", t + 12, 0),
                           {.action = AllocationAction::kOutOfMemory, .on_device = false});
  }

  void add_memory(Nanoseconds t) {
    builder.set_handle(stream, 0);
    builder.set_handle(other_stream, 0xFFFF'FFFF'FFFF'FFF0);
    builder.add_allocation(at(thread, "[memory]", t + 13, 0), {.action = AllocationAction::kFreeRequested,
                                                               .address = 0x7000'0000'0000,
                                                               .bytes = 1'536,
                                                               .requested = 1'025,
                                                               .stream_handle = 0xFFFF'FFFF'FFFF'FFF0});
    builder.add_allocation(at(other_thread, "segment_unmap", t + 13, 0),
                           {.action = AllocationAction::kSegmentUnmap,
                            .address = 1,
                            .bytes = 2 << 20,
                            .requested = std::numeric_limits<Bytes>::max(),
                            .stream_handle = 0,
                            .knows_block = false});
    builder.add_allocator_state({.rank = second, .device = -1});
    AllocatorState state{.rank = first, .device = 3, .time = t + 13, .settings = "expandable_segments:True"};
    state.segments.push_back({.address = 0xFFFF'FFFF'0000'0000,
                              .bytes = 20 << 20,
                              .stream_handle = 77,
                              .is_large = true,
                              .pool = {0, std::numeric_limits<std::uint64_t>::max()}});
    state.segments.back().blocks = {{0xFFFF'FFFF'0000'0000, 20 << 20, 19 << 20, BlockState::kPendingFree}};
    state.segments.push_back({.address = 4'096, .bytes = 2 << 20, .is_expandable = true, .pool = {1, 0}});
    state.segments.back().blocks = {{4'096, 512, 1, BlockState::kAllocated},
                                    {4'608, (2 << 20) - 512, 0, BlockState::kFree}};
    state.segments.push_back({});
    builder.add_allocator_state(state);
  }

  TraceBuilder::Common noted(TraceBuilder::Common common, const Note& note) {
    common.note = &note;
    return common;
  }

  void add_notes(Nanoseconds t) {
    const Note signed_number{.payload = Number{NumberType::kInt64, static_cast<std::uint64_t>(std::int64_t{-42})},
                             .category = builder.intern("io")};
    const Note unsigned_number{.payload = Number{NumberType::kUint64, std::numeric_limits<std::uint64_t>::max()}};
    const Note real_number{.payload = Number{NumberType::kDouble, std::bit_cast<std::uint64_t>(0.1)}};
    const Note open{.category = builder.intern("loss"), .is_open = true};
    const Note external{.external = ExternalId{ExternalKind::kCustom1, std::numeric_limits<std::uint64_t>::max()}};
    // Out of their order in time.
    builder.add_range(noted(at(thread, "open", t + 2'000, 0), open), {.kind = RangeKind::kOther});
    builder.add_range(noted(at(thread, "signed", t + 1'100, 5), signed_number), {.kind = RangeKind::kAnnotation});
    builder.add_range(noted(at(other_thread, "unsigned", t + 1'100, 5), unsigned_number), {});
    builder.add_device_range(noted(at(stream, "real", t + 15, 5), real_number), {});
    builder.add_host_call(noted(at(thread, "cudaMalloc", t + 1'200, 5), external));
    builder.add_sync(OperationKind::kHostSync, noted(at(thread, "cudaStreamSynchronize", t + 1'300, 5, 77), external),
                     {.kind = SyncKind::kStreamSync});
    builder.add_collective(at(stream, "ncclDevKernel", t + 14'000, 10, 3), {},
                           CollectiveDetail{.function = CollectiveFunction::kAllReduce,
                                            .channels = 24,
                                            .in_buffer = 0xFFFF'FFFF'FFFF'F000,
                                            .out_buffer = 4'096});
  }

  void add_uneven_exchange(Nanoseconds t) {
    builder.add_collective(
        at(stream, "ncclDevKernel", t + 15'000, 10, 3), {},
        CollectiveDetail{.function = CollectiveFunction::kAllToAll, .part_alignment = 8, .own_part_alignment = 16});
  }
};

Trace built(int version, Diagnostics& found) {
  Sample sample;
  sample.builder.name_lane(sample.thread, "python main");
  sample.builder.set_priority(sample.stream, -5);
  sample.builder.intern("a text that nothing uses");
  sample.builder.intern("");
  sample.add_device_work(1'760'000'000'000'000'000);
  sample.add_host_work(1'760'000'000'000'000'000);
  if (version >= 1) sample.add_memory(1'760'000'000'000'000'000);
  if (version >= 2) sample.add_notes(1'760'000'000'000'000'000);
  if (version >= 4) sample.add_uneven_exchange(1'760'000'000'000'000'000);
  found.count(kOfReader, "rank0.json byte 17", 3);
  return std::move(sample.builder).build(found);
}

}  // namespace

Trace sample_trace(Diagnostics& found) { return built(4, found); }

Trace sample_trace_of_1_0(Diagnostics& found) { return built(0, found); }

Trace sample_trace_of_1_1(Diagnostics& found) { return built(1, found); }

Trace sample_trace_of_1_2(Diagnostics& found) { return built(2, found); }

}  // namespace interlace::trace
