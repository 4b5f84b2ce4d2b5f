#include "simulator/trace/append_trace.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/sample_trace.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

std::vector<RankId> add_ranks(const Trace& trace, TraceBuilder& builder) {
  std::vector<RankId> ranks;
  for (const Rank& rank : trace.ranks()) ranks.push_back(builder.add_rank(rank));
  return ranks;
}

Trace built(TraceBuilder& builder) {
  Diagnostics ignored;
  return std::move(builder).build(ignored);
}

TEST(AppendTrace, ToAnEmptyBuilderGivesAnEqualTrace) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  TraceBuilder builder;
  append_trace(trace, add_ranks(trace, builder), builder);
  EXPECT_EQ(first_difference(built(builder), trace), "");
}

/// Three launches of one thread, the second of which has lost its kernel.
Trace trace_that_lost_a_kernel(Diagnostics& found) {
  TraceBuilder builder;
  const RankId rank = builder.add_rank({.number = 0});
  const LaneId thread = builder.lane(LaneKind::kHostThread, rank, 1, 1);
  const LaneId stream = builder.lane(LaneKind::kStream, rank, 0, 7);
  for (const std::int64_t i : {1, 2, 3}) {
    builder.add_host_call({thread, builder.intern("cudaLaunchKernel"), 10 * i, 5, i, {}});
    if (i != 2) builder.add_kernel({stream, builder.intern("k"), 10 * i + 100, 5, i, {}}, {});
  }
  return std::move(builder).build(found);
}

TEST(AppendTrace, KeepsWhichLaunchesLackTheirWork) {
  Diagnostics found;
  const Trace trace = trace_that_lost_a_kernel(found);
  ASSERT_EQ(trace.launches_without_work().size(), 1U);
  TraceBuilder builder;
  append_trace(trace, add_ranks(trace, builder), builder);
  Diagnostics found_again;
  EXPECT_EQ(first_difference(std::move(builder).build(found_again), trace), "");
  EXPECT_EQ(found_again.entries(), found.entries());
}

// What refers to texts, lanes and operations must follow them to where they now are.
TEST(AppendTrace, KeepsReferencesBehindAnotherTrace) {
  TraceBuilder builder;
  const LaneId thread = builder.lane(LaneKind::kHostThread, builder.add_rank({.number = 9}), 1, 1);
  Diagnostics found;
  const Trace trace = sample_trace(found);
  // Later than all of the sample, so that it comes last though it was added first.
  const Nanoseconds end = trace.origin() + trace.length();
  builder.add_range({thread, builder.intern("last"), end + 1, 1, {}}, {});
  append_trace(trace, add_ranks(trace, builder), builder);
  const Trace joined = built(builder);

  ASSERT_EQ(joined.size(), trace.size() + 1);
  EXPECT_EQ(joined.name({static_cast<std::uint32_t>(trace.size())}), "last");
  int references = 0;
  ASSERT_EQ(joined.allocator_states().size(), trace.allocator_states().size());
  for (std::size_t i = 0; i < trace.allocator_states().size(); ++i) {
    AllocatorState expected = trace.allocator_states()[i];
    expected.rank.value += 1;
    EXPECT_EQ(joined.allocator_states()[i], expected);
  }
  const auto lane_of = [](std::optional<LaneId> lane) { return lane ? std::optional(lane->value + 1) : std::nullopt; };
  const auto value_of = [](std::optional<LaneId> lane) { return lane ? std::optional(lane->value) : std::nullopt; };
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    EXPECT_EQ(joined.name(op), trace.name(op));
    EXPECT_EQ(value_of(joined.lane_of(op)), lane_of(trace.lane_of(op)));
    EXPECT_EQ(joined.rank_of(op).value, trace.rank_of(op).value + 1);
    EXPECT_EQ(joined.launch_of(op), trace.launch_of(op));
    if (const CollectiveDetail* detail = trace.collective(op)) {
      EXPECT_EQ(joined.text(joined.collective(op)->group), trace.text(detail->group));
      EXPECT_EQ(joined.text(joined.collective(op)->dtype), trace.text(detail->dtype));
      EXPECT_EQ(joined.text(joined.collective(op)->name), trace.text(detail->name));
    }
    if (const SyncDetail* detail = trace.sync(op)) {
      references += detail->record ? 1 : 0;
      EXPECT_EQ(joined.sync(op)->record, detail->record);
      EXPECT_EQ(value_of(joined.sync(op)->stream), lane_of(detail->stream));
      EXPECT_EQ(value_of(joined.sync(op)->record_stream), lane_of(detail->record_stream));
    }
    if (const RangeDetail* detail = trace.range(op)) {
      references += detail->forward_op ? 1 : 0;
      EXPECT_EQ(joined.range(op)->forward_op, detail->forward_op);
    }
    if (const AllocationDetail* detail = trace.allocation(op)) {
      EXPECT_EQ(value_of(joined.allocation(op)->stream), lane_of(detail->stream));
    }
  }
  EXPECT_GE(references, 2);
}

TEST(AppendTrace, LeavesOutWhatIsNamed) {
  Diagnostics found;
  const Trace trace = sample_trace(found);
  std::vector<OperationId> left_out;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) == OperationKind::kAllocation) left_out.push_back({i});
  }
  ASSERT_EQ(left_out.size(), 4U);
  TraceBuilder builder;
  append_trace(trace, add_ranks(trace, builder), builder, left_out);
  const Trace rest = built(builder);
  ASSERT_EQ(rest.size() + left_out.size(), trace.size());
  std::vector<std::string_view> names;
  std::vector<std::string_view> targets;  // of references, which must still name the same operations
  const auto add_targets = [&](const Trace& of, bool all) {
    names.clear();
    targets.clear();
    for (std::uint32_t i = 0; i < of.size(); ++i) {
      if (!all || of.kind({i}) != OperationKind::kAllocation) names.push_back(of.name({i}));
      if (const auto* sync = of.sync({i}); sync != nullptr && sync->record) targets.push_back(of.name(*sync->record));
      if (const auto* range = of.range({i}); range != nullptr && range->forward_op) {
        targets.push_back(of.name(*range->forward_op));
      }
      if (const auto launch = of.launch_of({i})) targets.push_back(of.name(*launch));
    }
    return std::pair(names, targets);
  };
  EXPECT_EQ(add_targets(rest, false), add_targets(trace, true));
}

}  // namespace
}  // namespace interlace::trace
