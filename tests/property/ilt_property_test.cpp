#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "simulator/trace/ilt/format.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "simulator/trace/limits.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

using rc::gen::arbitrary;
using rc::gen::inRange;

template <class T>
T any() {
  return *rc::gen::oneOf(arbitrary<T>(),
                         rc::gen::element(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <class T>
std::optional<T> maybe() {
  return *arbitrary<bool>() ? std::optional(any<T>()) : std::nullopt;
}

/// Within the format's limits, and often at them.
template <class T>
T any_from(std::int64_t least, std::int64_t most) {
  const auto within = rc::gen::map(arbitrary<std::uint64_t>(), [least, most](std::uint64_t word) {
    return least + static_cast<std::int64_t>(word % (static_cast<std::uint64_t>(most - least) + 1));
  });
  return static_cast<T>(*rc::gen::oneOf(within, rc::gen::element(least, most)));
}

template <class Enum>
Enum any_up_to(Enum last) {
  return static_cast<Enum>(*inRange(0, static_cast<int>(last) + 1));
}

/// Builds a random trace: few lanes, names, correlations and start times, so that ties, shared launches and duplicate
/// correlations happen.
class RandomTrace {
 public:
  Trace build(Diagnostics& diagnostics) {
    for (int i = *inRange(1, 4); i > 0; --i) add_rank();
    for (int i = *inRange(1, 5); i > 0; --i) add_lane();
    const int operations = *inRange(0, 40);
    for (int i = 0; i < operations; ++i) add_operation();
    for (int i = *inRange(0, 3); i > 0; --i) add_allocator_state();
    return std::move(builder_).build(diagnostics);
  }

 private:
  void add_rank() {
    // A file may have any name; reading makes blanks of control characters in it.
    const auto name = rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7f'));
    Rank rank{.number = any<std::int32_t>(), .world_size = maybe<std::int32_t>(), .source = *name};
    rank.process_id = any<std::int64_t>();
    rank.producer = *arbitrary<std::string>();
    for (int i = *inRange(0, 3); i > 0; --i) {
      rank.devices.push_back({any<std::int64_t>(), *arbitrary<std::string>(), any<std::int32_t>(), any<std::int32_t>(),
                              any<std::int32_t>(), any<std::int32_t>(), any<std::int64_t>(), any<Bytes>(),
                              any<Bytes>()});
    }
    ranks_.push_back(builder_.add_rank(rank));
  }

  void add_lane() {
    const LaneId id = builder_.lane(any_up_to(LaneKind::kStream), *rc::gen::elementOf(ranks_), any<std::int64_t>(),
                                    any<std::int64_t>());
    lanes_.push_back(id);
    if (*arbitrary<bool>()) builder_.name_lane(id, *arbitrary<std::string>());
    if (*arbitrary<bool>()) builder_.set_priority(id, any<std::int32_t>());
    if (*arbitrary<bool>()) builder_.set_handle(id, any<std::uint64_t>());
  }

  StringId name() { return builder_.intern(*arbitrary<std::string>()); }
  LaneId lane() { return *rc::gen::elementOf(lanes_); }
  std::optional<LaneId> maybe_lane() { return *arbitrary<bool>() ? std::optional(lane()) : std::nullopt; }
  static std::optional<OperationId> one_of(const std::vector<OperationId>& known) {
    return known.empty() || *arbitrary<bool>() ? std::nullopt : std::optional(*rc::gen::elementOf(known));
  }

  TraceBuilder::Common common() {
    const Nanoseconds start =
        *rc::gen::oneOf(inRange<Nanoseconds>(0, 5), inRange(ilt::kEarliestTime, ilt::kLatestTime));
    const Nanoseconds duration =
        *rc::gen::oneOf(inRange<Nanoseconds>(-2, 5), inRange<Nanoseconds>(0, ilt::kLongestDuration));
    const auto correlation = *arbitrary<bool>() ? std::optional<std::int64_t>(*inRange(0, 8)) : std::nullopt;
    return {lane(), name(), start, duration, correlation};
  }

  KernelDetail kernel() {
    KernelDetail detail{.registers_per_thread = any<std::int32_t>(),
                        .shared_memory = any_from<Bytes>(0, kLargestAmount),
                        .blocks_per_sm_limit = maybe<std::int32_t>(),
                        .priority = maybe<std::int32_t>(),
                        .graph_node = maybe<std::int64_t>()};
    for (std::size_t i = 0; i < 3; ++i) {
      detail.grid[i] = any_from<std::int32_t>(1, kLargestGrid[i]);
      detail.block[i] = any_from<std::int32_t>(1, kLargestBlock[i]);
    }
    return detail;
  }

  CollectiveDetail collective() {
    return {any_up_to(CollectiveFunction::kBarrier),
            name(),
            name(),
            name(),
            any_from<std::int64_t>(0, kLargestAmount),
            any_from<std::int64_t>(0, kLargestAmount),
            any<std::int32_t>(),
            maybe<std::int64_t>(),
            any_from<Bytes>(0, kLargestElement)};
  }

  static Bytes amount() { return any_from<Bytes>(0, kLargestAmount); }
  /// Of a state: so much that all of its blocks together are not too much.
  static Bytes part() { return any_from<Bytes>(0, kLargestAmount / 16); }
  static std::optional<Bytes> maybe_total() {
    return *arbitrary<bool>() ? std::optional(any_from<Bytes>(-kLargestAmount, kLargestAmount)) : std::nullopt;
  }

  CopyDetail copy() {
    return {any_from<Bytes>(0, std::numeric_limits<Bytes>::max()), any_up_to(MemorySpace::kManaged),
            any_up_to(MemorySpace::kManaged), *arbitrary<bool>()};
  }

  RangeDetail range() {
    return {any_up_to(RangeKind::kOther), maybe<std::int64_t>(), maybe<std::int64_t>(), one_of(all_)};
  }

  AllocationDetail allocation() {
    return {any_up_to(AllocationAction::kSegmentUnmap),
            any<std::uint64_t>(),
            amount(),
            maybe_total(),
            maybe_total(),
            maybe_lane(),
            *arbitrary<bool>(),
            *arbitrary<bool>() ? std::optional(any_from<Bytes>(0, std::numeric_limits<Bytes>::max())) : std::nullopt,
            maybe<std::uint64_t>(),
            *arbitrary<bool>()};
  }

  void add_allocator_state() {
    AllocatorState state{.rank = *rc::gen::elementOf(ranks_), .device = any<std::int64_t>()};
    if (*arbitrary<bool>()) state.time = *inRange(ilt::kEarliestTime, ilt::kLatestTime);
    state.settings = *arbitrary<std::string>();
    for (int i = *inRange(0, 4); i > 0; --i) {
      AllocatorSegment& segment = state.segments.emplace_back();
      segment = {any<std::uint64_t>(), part(), any<std::uint64_t>(), *arbitrary<bool>(), *arbitrary<bool>(), {}, {}};
      for (auto& id : segment.pool) id = any<std::uint64_t>();
      for (int j = *inRange(0, 4); j > 0; --j) {
        segment.blocks.push_back({any<std::uint64_t>(), part(), part(), any_up_to(BlockState::kFree)});
      }
    }
    builder_.add_allocator_state(std::move(state));
  }

  void add_operation() {
    const auto kind = any_up_to(OperationKind::kAllocation);
    switch (kind) {
      case OperationKind::kKernel: all_.push_back(builder_.add_kernel(common(), kernel())); return;
      case OperationKind::kCollective:
        all_.push_back(builder_.add_collective(common(), kernel(),
                                               *arbitrary<bool>() ? std::optional(collective()) : std::nullopt));
        return;
      case OperationKind::kCopy: all_.push_back(builder_.add_copy(common(), copy())); return;
      case OperationKind::kMemset: all_.push_back(builder_.add_memset(common(), copy())); return;
      case OperationKind::kHostCall:
        if (*arbitrary<bool>()) {
          all_.push_back(builder_.add_host_call(common()));
          return;
        }
        [[fallthrough]];
      case OperationKind::kEventRecord:
      case OperationKind::kStreamWait:
      case OperationKind::kHostSync:
        all_.push_back(builder_.add_sync(
            kind, common(),
            {any_up_to(SyncKind::kEventQuery), maybe_lane(), maybe<std::int64_t>(), one_of(all_), maybe_lane()}));
        return;
      case OperationKind::kRange: all_.push_back(builder_.add_range(common(), range())); return;
      case OperationKind::kDeviceRange: all_.push_back(builder_.add_device_range(common(), range())); return;
      case OperationKind::kAllocation: all_.push_back(builder_.add_allocation(common(), allocation())); return;
    }
  }

  TraceBuilder builder_;
  std::vector<RankId> ranks_;
  std::vector<LaneId> lanes_;
  std::vector<OperationId> all_;
};

RC_GTEST_PROP(IltProperty, ReadingGivesBackWhatWasWritten, ()) {
  Diagnostics found;
  const Trace trace = RandomTrace().build(found);
  std::ostringstream out;
  write_ilt(trace, found, out, "memory",
            {.operations_per_chunk = *inRange<std::uint32_t>(1, 50), .compression_level = *inRange(-1, 6)});
  const std::string file = out.str();
  Diagnostics read_back;
  const Trace again = read_ilt({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "memory", read_back);
  RC_ASSERT(first_difference(trace, again) == "");
  RC_ASSERT(read_back.entries() == found.entries());
}

}  // namespace
}  // namespace interlace::trace
