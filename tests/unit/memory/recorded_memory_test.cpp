#include "simulator/memory/recorded_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/schedule/library.hpp"
#include "simulator/trace/trace_builder.hpp"
#include "tests/unit/memory/names.hpp"

namespace interlace::memory {
namespace {

using trace::AllocationAction;

const SegmentKey kNextModule{Stage::kInputDistStart, Piece::kPermute, ModuleId{1}};

/// What a host does under torchrec/base, 10 ns apart: calls, and blocks made and given back.
class Host {
 public:
  Host() : rank_(builder_.add_rank({.number = 0})) {
    thread_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 1);
  }
  void call(const SegmentKey& in) { did_.push_back({in, {}, 0, now()}); }
  void make(const SegmentKey& in, std::uint64_t address, Bytes bytes = 512) {
    did_.push_back({in, AllocationAction::kAlloc, address, now(), bytes});
  }
  void drop(const SegmentKey& in, std::uint64_t address) {
    did_.push_back({in, AllocationAction::kFreeRequested, address, now()});
  }
  void end_iteration() { ends_.push_back(now()); }
  /// The program numbers its iterations.
  void number_from(std::int64_t first) { first_number_ = first; }
  /// Autograd gives parameters their gradients from the last thing on until the next but one.
  void accumulate() { accumulations_.push_back(time_); }
  /// A block of so many bytes is there all along.
  void keep(Bytes bytes) { kept_ = bytes; }

  RecordedMemory memory(stages::Frees frees = stages::Frees::kByOwners) {
    for (const Did& did : did_) {
      const trace::TraceBuilder::Common common{thread_, builder_.intern("done"), did.time, 1, {}};
      if (did.action) {
        builder_.add_allocation(common, {.action = *did.action, .address = did.address, .bytes = did.bytes});
      } else {
        builder_.add_host_call(common);
      }
    }
    const trace::LaneId autograd = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 2);
    const auto node = builder_.intern("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
    for (const Nanoseconds begin : accumulations_) builder_.add_range({autograd, node, begin, 15, {}}, {});
    if (kept_ > 0) {
      const trace::AllocatorBlock block{0, kept_, kept_, trace::BlockState::kAllocated};
      builder_.add_allocator_state(
          {.rank = rank_, .time = 1, .segments = {{.address = 0, .bytes = kept_, .blocks = {block}}}});
    }
    Diagnostics diagnostics;
    const trace::Trace trace = std::move(builder_).build(diagnostics);
    stages::RankCut cut{rank_, {}, {}, {}};
    std::size_t next = 0;
    for (const Nanoseconds end : ends_) {
      cut.iterations.push_back(iteration(trace, next, end));
      if (first_number_) cut.iterations.back().number = *first_number_ + std::ssize(cut.iterations) - 1;
    }
    return recorded_memory(trace, cut, schedule::find("torchrec/base"), frees, diagnostics);
  }

 private:
  struct Did {
    SegmentKey in;
    std::optional<AllocationAction> action;  ///< none: a call
    std::uint64_t address = 0;
    Nanoseconds time = 0;
    Bytes bytes = 512;
  };

  Nanoseconds now() { return time_ += 10; }

  [[nodiscard]] stages::Iteration iteration(const trace::Trace& trace, std::size_t& next, Nanoseconds end) const {
    stages::Iteration made{{next < did_.size() ? did_[next].time : end, end}, {}, {}};
    for (; next < did_.size() && did_[next].time < end; ++next) {
      const trace::OperationId op = trace.on_lane(thread_)[next];
      const SegmentKey& in = did_[next].in;
      const auto before = static_cast<std::uint32_t>(std::ranges::count(made.items, in, &stages::Item::segment));
      if (did_[next].action) {
        made.memory.push_back({op, in, before, false});
      } else {
        made.items.push_back({op, in, 0});
      }
    }
    return made;
  }

  trace::TraceBuilder builder_;
  trace::RankId rank_;
  trace::LaneId thread_;
  std::vector<Did> did_;
  std::vector<Nanoseconds> ends_;
  std::vector<Nanoseconds> accumulations_;
  Bytes kept_ = 0;
  std::optional<std::int64_t> first_number_;
  Nanoseconds time_ = 0;
};

/// Two iterations that make a block in a lookup and give it back as another segment begins.
RecordedMemory dropped_in(const SegmentKey& last) {
  Host host;
  for (const std::uint64_t address : {512U, 1024U}) {
    host.call(kFinish);
    host.make(kLookup, address);
    host.call(kLookup);
    host.call(kScatter);
    host.drop(last, address);
    host.call(last);
    host.end_iteration();
  }
  return host.memory();
}

TEST(RecordedMemory, ABlockIsGivenBackAtItsPlaceInASegment) {
  const RecordedMemory memory = dropped_in(kPooled);
  EXPECT_EQ(memory.classes.at({kLookup, 0, 1}).released, (Release{{kPooled, 0, 0}, 0, {}}));
}

// What the loop over modules still refers to when it comes to the next one. Under a schedule that did the next one's
// segment long before, it would seem to be given back as soon as it is made.
TEST(RecordedMemory, ABlockThatGoesAsAnotherModuleBeginsGoesBehindWhatWasBefore) {
  const RecordedMemory memory = dropped_in(kNextModule);
  EXPECT_EQ(memory.classes.at({kLookup, 0, 1}).released, (Release{end_of(kScatter), 0, {}}));
}

/// Five iterations; every other batch makes a block of another size, and gives it back later.
RecordedMemory alternating(stages::Frees frees, std::optional<std::int64_t> first_number = {}) {
  Host host;
  if (first_number) host.number_from(*first_number);
  for (int i = 0; i < 5; ++i) {
    const bool odd = i % 2 == 1;
    const auto address = static_cast<std::uint64_t>(i + 1) * 4096;
    host.call(kFinish);
    host.make(kLookup, address, odd ? 1024 : 512);
    host.call(kLookup);
    if (!odd) host.drop(kLookup, address);
    host.call(kScatter);
    if (odd) host.drop(kScatter, address);
    host.end_iteration();
  }
  return host.memory(frees);
}

TEST(RecordedMemory, BatchesThatGiveBlocksBackElsewhereHaveAVariantOfTheirOwn) {
  const RecordedMemory memory = alternating(stages::Frees::kBehindLastUse);
  ASSERT_EQ(memory.batches, 2);
  std::map<Bytes, SegmentKey> released_in;
  for (const auto& [kind, history] : memory.classes) {
    for (const std::int32_t batch : {0, 1}) {
      const std::vector<Bytes>* sizes = memory.sizes_for(kind, batch);
      if (sizes == nullptr) continue;
      EXPECT_TRUE(released_in.emplace(sizes->front(), *history.released->place.segment).second);
    }
  }
  EXPECT_EQ(released_in, (std::map<Bytes, SegmentKey>{{512, kLookup}, {1024, kScatter}}));
}

TEST(RecordedMemory, NumbersOfIterationsSayWhichBatchWasTheFirst) {
  const RecordedMemory numbered = alternating(stages::Frees::kByOwners, 7);
  const RecordedMemory not_numbered = alternating(stages::Frees::kByOwners);
  const auto first_size = [](const RecordedMemory& memory) {
    return memory.sizes_for(memory.classes.begin()->first, 0)->front();
  };
  EXPECT_TRUE(numbered.knows_first_batch);
  EXPECT_FALSE(not_numbered.knows_first_batch);
  EXPECT_EQ(first_size(numbered), 1024) << "the first recorded one was an odd one";
  EXPECT_EQ(first_size(not_numbered), 512);
}

TEST(RecordedMemory, WhereOwnersDecideAllBatchesAreAsMost) {
  const RecordedMemory memory = alternating(stages::Frees::kByOwners);
  ASSERT_EQ(memory.classes.size(), 1U);
  EXPECT_EQ(memory.classes.begin()->second.released->place.segment, kLookup);
  EXPECT_NE(memory.sizes_for(memory.classes.begin()->first, 1), nullptr);
}

bool is_gradient(bool accumulated, Bytes parameter) {
  Host host;
  host.keep(parameter);
  for (const std::uint64_t address : {4096U, 8192U}) {
    host.call(kFinish);
    host.make(kLookup, address);
    host.call(kLookup);
    if (accumulated) host.accumulate();
    host.drop(kLookup, address);
    host.call(kScatter);
    host.end_iteration();
  }
  return host.memory().classes.at({kLookup, 0, 1}).gradient;
}

TEST(RecordedMemory, AGradientIsLetGoWhenItIsAccumulatedAndAsLargeAsAParameter) {
  EXPECT_TRUE(is_gradient(true, 512));
  EXPECT_FALSE(is_gradient(false, 512));
  EXPECT_FALSE(is_gradient(true, 1024)) << "that of something else";
}

/// Iterations of a lookup, with what an optimizer makes in the first one and keeps.
RecordedMemory with_state_made_in(int iteration, Bytes kept_before) {
  Host host;
  if (kept_before > 0) host.keep(kept_before);
  for (int i = 0; i < 6; ++i) {
    const auto address = static_cast<std::uint64_t>(512 * (i + 1));
    host.call(kLookup);
    host.make(kLookup, address);
    if (i == iteration) {
      host.make(kLookup, 1 << 20, 4096);
      host.make(kLookup, 1 << 21, 8192);
    }
    host.call(kPooled);
    host.drop(kPooled, address);
    host.end_iteration();
  }
  return host.memory();
}

TEST(RecordedMemory, WhatIsMadeOnceAndKeptIsThereAllAlong) {
  EXPECT_EQ(with_state_made_in(0, 0).persistent, (std::vector<Bytes>{4096, 8192}));
  EXPECT_EQ(with_state_made_in(0, 1024).persistent, (std::vector<Bytes>{1024, 4096, 8192}));
  EXPECT_TRUE(with_state_made_in(5, 0).persistent.empty()) << "it may be given back behind the recording";
}

}  // namespace
}  // namespace interlace::memory
