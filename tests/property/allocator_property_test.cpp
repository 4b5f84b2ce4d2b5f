// The allocator against a second one that is written to be read (reference_allocator.hpp): any sequence of calls must
// leave both with the same answers, the same blocks and the same statistics.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "simulator/allocator/caching_allocator.hpp"
#include "simulator/allocator/rewind.hpp"
#include "tests/property/reference_allocator.hpp"

namespace interlace::allocator {
namespace {

constexpr std::array<Stream, 3> kStreams{0, 0x7f40, 0xfff0'0000'0000'0001};  // ordered as unsigned numbers
constexpr std::array<PoolId, 2> kPools{PoolId{0, 1}, PoolId{3, 0}};

// From low to below high, evenly from the first case on: RapidCheck's own keeps to the low end while cases are small.
template <class T>
rc::Gen<T> in_range(T low, T high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

enum class Call { kMalloc, kFree, kComplete, kEmptyCache, kSynchronise, kBegin, kEnd, kRelease };

struct Step {
  Call call = Call::kMalloc;
  Bytes size = 0;
  std::size_t which = 0;  ///< of the blocks, pools or routes there are
  Nanoseconds pause = 0;
  Stream stream = 0;
  std::vector<StreamUse> uses;  ///< times from the moment of the call
};

struct Setup {
  Configuration configuration;
  DeviceCapacity capacity;
  Completion completion = Completion::kTimed;
  bool pools = false;
};

/// Sizes that often are equal or nearly so, and lie about the limits of the rules.
rc::Gen<Bytes> sizes() {
  constexpr std::array<Bytes, 16> kUsual{1,         512,       700,       3000,     65536,    kMiB / 2,
                                         kMiB,      kMiB + 1,  2 * kMiB,  3 * kMiB, 9 * kMiB, 10 * kMiB,
                                         11 * kMiB, 15 * kMiB, 20 * kMiB, 41 * kMiB};
  return rc::gen::weightedOneOf<Bytes>({{6, rc::gen::elementOf(kUsual)},
                                        {2, in_range<Bytes>(1, kMiB)},
                                        {2, in_range<Bytes>(kMiB, 24 * kMiB)},
                                        {1, in_range<Bytes>(24 * kMiB, 90 * kMiB)}});
}

Step any_step(const Setup& setup) {
  constexpr Nanoseconds kLongest = 200;
  Step step;
  step.call = *rc::gen::weightedElement<Call>({{50, Call::kMalloc},
                                               {40, Call::kFree},
                                               {setup.completion == Completion::kDriven ? 30U : 0U, Call::kComplete},
                                               {1, Call::kEmptyCache},
                                               {1, Call::kSynchronise},
                                               {setup.pools ? 4U : 0U, Call::kBegin},
                                               {setup.pools ? 4U : 0U, Call::kEnd},
                                               {setup.pools ? 1U : 0U, Call::kRelease}});
  step.size = *sizes();
  step.which = *in_range<std::size_t>(0, 1000);
  step.pause = *in_range<Nanoseconds>(0, 30);
  step.stream = *rc::gen::elementOf(kStreams);
  const auto count = *rc::gen::weightedElement<int>({{5, 0}, {3, 1}, {2, 2}, {1, 3}});
  for (int i = 0; i < count; ++i) {
    step.uses.push_back({*rc::gen::elementOf(kStreams), *in_range<Nanoseconds>(0, kLongest)});
  }
  return step;
}

Setup any_setup() {
  Setup setup;
  Configuration& c = setup.configuration;
  const auto chance = [](int of) { return *in_range(0, of) == 0; };
  setup.capacity.total = *rc::gen::element<Bytes>(60 * kMiB, 150 * kMiB, 400 * kMiB, 4 * kGiB);
  if (chance(4)) c.large_segment_size = c.max_non_split_rounding = 32 * kMiB;
  if (chance(3)) c.max_split_size = c.large_segment_size + *rc::gen::element<Bytes>(0, 10 * kMiB);
  if (chance(4)) c.roundup_power2_divisions.fill(*rc::gen::element<Bytes>(1, 2, 4, 8));
  if (chance(3)) c.per_process_memory_fraction = 0.75;
  if (chance(2)) c.garbage_collection_threshold = *rc::gen::element(0.2, 0.6);
  c.expandable_segments = chance(3);
  setup.completion = *rc::gen::element(Completion::kTimed, Completion::kTimed, Completion::kNextMalloc,
                                       Completion::kSynchronise, Completion::kDriven);
  setup.pools = chance(3);
  return setup;
}

void check_invariants(const AllocatorState& state) {
  check_state(state, "the allocator");
  for (const SegmentRecord& segment : state.segments) {
    for (std::size_t i = 1; i < segment.blocks.size(); ++i) {
      const bool both_free =
          segment.blocks[i].status == BlockStatus::kInactive && segment.blocks[i - 1].status == BlockStatus::kInactive;
      RC_ASSERT(!both_free);
    }
  }
}

/// Counters and current values are equal, and the peaks that the reference keeps.
void check_statistics(const Statistics& real, const Statistics& expected) {
  for (const auto member :
       {&Statistics::allocation, &Statistics::segment, &Statistics::active, &Statistics::inactive_split,
        &Statistics::allocated_bytes, &Statistics::reserved_bytes, &Statistics::active_bytes,
        &Statistics::inactive_split_bytes, &Statistics::requested_bytes}) {
    for (const auto part : {&PoolStat::all, &PoolStat::small_pool, &PoolStat::large_pool}) {
      const Stat& stat = real.*member.*part;
      RC_ASSERT(stat.current == (expected.*member.*part).current);
      RC_ASSERT(stat.current == stat.allocated - stat.freed);
      RC_ASSERT(stat.peak >= stat.current);
    }
  }
  for (const auto member : {&Statistics::allocation, &Statistics::allocated_bytes, &Statistics::active,
                            &Statistics::active_bytes, &Statistics::requested_bytes}) {
    RC_ASSERT((real.*member).all.peak == (expected.*member).all.peak);
    RC_ASSERT((real.*member).small_pool.peak == (expected.*member).small_pool.peak);
    RC_ASSERT((real.*member).large_pool.peak == (expected.*member).large_pool.peak);
  }
  RC_ASSERT(real.oversize_allocations.current == expected.oversize_allocations.current);
  RC_ASSERT(real.oversize_segments.current == expected.oversize_segments.current);
  RC_ASSERT(real.num_alloc_retries == expected.num_alloc_retries);
  RC_ASSERT(real.num_ooms == expected.num_ooms);
  RC_ASSERT(real.num_sync_all_streams == expected.num_sync_all_streams);
  RC_ASSERT(real.num_device_alloc == expected.num_device_alloc);
  RC_ASSERT(real.num_device_free == expected.num_device_free);
}

/// What the usage rows say adds up to the statistics.
void check_usage(const CachingAllocator& allocator) {
  Bytes reserved = 0;
  Bytes allocated = 0;
  Bytes active = 0;
  for (const ArenaUsage& arena : allocator.usage()) {
    reserved += arena.reserved;
    allocated += arena.allocated;
    active += arena.active;
    RC_ASSERT(arena.largest_free <= arena.free());
  }
  RC_ASSERT(reserved == allocator.statistics().reserved_bytes.all.current);
  RC_ASSERT(allocated == allocator.statistics().allocated_bytes.all.current);
  RC_ASSERT(active == allocator.statistics().active_bytes.all.current);
}

/// Makes the same calls of both.
class Pair {
 public:
  explicit Pair(const Setup& setup)
      : setup_(setup),
        real_(setup.configuration, DriverMemory(setup.capacity, 7U), setup.completion),
        reference_(setup.configuration, DriverMemory(setup.capacity, 7U), setup.completion) {
    if (!setup.pools) return;
    const PoolOptions options{.no_split = *rc::gen::arbitrary<bool>(),
                              .use_on_oom = *rc::gen::arbitrary<bool>(),
                              .own_allocator = *rc::gen::arbitrary<bool>()};
    real_.set_pool_options(kPools[1], options);
    reference_.set_pool_options(kPools[1], options);
    users_[1] = 1;
  }

  CachingAllocator& real() { return real_; }

  void make(const Step& step) {
    now_ += step.pause;
    switch (step.call) {
      case Call::kMalloc: malloc(step); break;
      case Call::kFree: free(step); break;
      case Call::kComplete: complete(step); break;
      case Call::kEmptyCache: empty_cache(); break;
      case Call::kSynchronise:
        real_.synchronise();
        reference_.synchronise();
        break;
      case Call::kBegin: begin(step); break;
      case Call::kEnd: end(); break;
      case Call::kRelease: release(step); break;
    }
    const AllocatorState state = real_.export_state();
    RC_ASSERT(state == reference_.state());
    check_invariants(state);
    check_statistics(real_.statistics(), reference_.statistics());
    check_usage(real_);
  }

 private:
  void malloc(const Step& step) {
    const MallocResult result = real_.malloc(step.size, step.stream, now_);
    const ReferenceAllocator::Answer answer = reference_.malloc(step.size, step.stream, now_);
    RC_ASSERT(result.allocation.has_value() != answer.out_of_memory);
    RC_ASSERT(result.synchronised == answer.synchronised);
    RC_ASSERT(result.waited_until == answer.waited_until);
    if (result.synchronised) pending_.clear();
    if (answer.out_of_memory) return;
    RC_ASSERT(result.allocation->address == answer.address);
    RC_ASSERT(result.allocation->size == answer.size);
    used_.push_back(result.allocation->block);
  }
  void free(const Step& step) {
    if (used_.empty()) return;
    const auto chosen = used_.begin() + static_cast<std::ptrdiff_t>(step.which % used_.size());
    std::vector<StreamUse> uses = step.uses;
    for (StreamUse& use : uses) use.drained_at += now_;
    reference_.free(real_.address_of(*chosen), uses);
    real_.free(*chosen, now_, uses);
    if (setup_.completion == Completion::kDriven) pending_.push_back(*chosen);
    used_.erase(chosen);
  }
  void complete(const Step& step) {
    if (pending_.empty()) return;
    const auto chosen = pending_.begin() + static_cast<std::ptrdiff_t>(step.which % pending_.size());
    reference_.complete(real_.address_of(*chosen));
    real_.complete(*chosen, now_);
    pending_.erase(chosen);
  }
  void empty_cache() {
    RC_ASSERT(real_.empty_cache(now_) == reference_.empty_cache());
    if (routes_.empty()) pending_.clear();
  }
  void begin(const Step& step) {
    const std::size_t n = step.which % kPools.size();
    const PoolId pool = kPools[n];
    if (std::ranges::find(routes_, pool) != routes_.end()) return;
    const Stream only = step.stream;
    const auto takes = [only](Stream stream) { return stream == only; };
    real_.begin_allocate_to_pool(pool, takes);
    reference_.begin_allocate_to_pool(pool, takes);
    routes_.push_back(pool);
    ++users_[n];
  }
  void end() {
    if (routes_.empty()) return;
    real_.end_allocate_to_pool(routes_.front());
    reference_.end_allocate_to_pool(routes_.front());
    routes_.erase(routes_.begin());
  }
  void release(const Step& step) {
    const std::size_t n = step.which % kPools.size();
    if (users_[n] == 0) return;
    --users_[n];
    real_.release_pool(kPools[n]);
    reference_.release_pool(kPools[n]);
  }

  Setup setup_;
  CachingAllocator real_;
  ReferenceAllocator reference_;
  Nanoseconds now_ = 0;
  std::vector<BlockId> used_;
  std::vector<BlockId> pending_;
  std::vector<PoolId> routes_;
  std::array<int, kPools.size()> users_{};
};

RC_GTEST_PROP(AllocatorProperties, AgreesWithTheReference, ()) {
  const Setup setup = any_setup();
  Pair pair(setup);
  const auto steps = *in_range(1, 250);
  for (int i = 0; i < steps; ++i) pair.make(any_step(setup));
  RC_TAG(pair.real().statistics().num_ooms > 0);
}

/// Whether some of `runs` random sequences of mallocs and frees leaves the two with different blocks.
bool differs(ReferenceAllocator::Fault fault, int runs) {
  std::mt19937 random(3);  // NOLINT: the same sequences each time
  const auto below = [&](std::size_t n) { return random() % n; };
  constexpr std::array<Bytes, 6> kUsual{700, 3000, 700'000, 3 * kMiB, 9 * kMiB, 15 * kMiB};
  for (int run = 0; run < runs; ++run) {
    CachingAllocator real({}, DriverMemory({}, 7U), Completion::kTimed);
    ReferenceAllocator wrong({}, DriverMemory({}, 7U), Completion::kTimed, fault);
    std::vector<BlockId> used;
    for (Nanoseconds now = 0; now < 4000; now += 20) {
      if (used.empty() || below(5) < 3) {
        const Bytes size = kUsual.at(below(kUsual.size()));
        const Stream stream = kStreams.at(below(kStreams.size()));
        used.push_back(real.malloc(size, stream, now).allocation->block);
        (void)wrong.malloc(size, stream, now);
      } else {
        const auto chosen = used.begin() + static_cast<std::ptrdiff_t>(below(used.size()));
        const std::vector<StreamUse> uses(below(2), {kStreams.at(below(kStreams.size())), now + 100});
        wrong.free(real.address_of(*chosen), uses);
        real.free(*chosen, now, uses);
        used.erase(chosen);
      }
      if (real.export_state() != wrong.state()) return true;
    }
  }
  return false;
}

TEST(AllocatorFaults, AreSeenByTheComparison) {
  using enum ReferenceAllocator::Fault;
  EXPECT_FALSE(differs(kNone, 200));
  for (const auto fault :
       {kHighestAddress, kNeverMerges, kAlwaysSplits, kForgetsStreams, kRoundsToPowers, kSharesAllStreams}) {
    EXPECT_TRUE(differs(fault, 200)) << static_cast<int>(fault);
  }
}

/// Without the border between a large block that is not free and a free one behind it: if that was free already when
/// the block's free completed, nothing tells how much of it was the block's slack.
AllocatorState without_slack(AllocatorState state) {
  for (SegmentRecord& segment : state.segments) {
    if (segment.small) continue;
    std::vector<BlockRecord> blocks;
    for (const BlockRecord& block : segment.blocks) {
      const bool slack = block.status == BlockStatus::kInactive && !blocks.empty();
      if (slack) {
        blocks.back().size += block.size;
      } else {
        blocks.push_back(block);
      }
    }
    segment.blocks = blocks;
  }
  return state;
}

// The state at any moment of a run, from the state at its end and the history between.
RC_GTEST_PROP(AllocatorProperties, RewindFindsTheStateAtTheStart, ()) {
  Setup setup = any_setup();
  setup.configuration.expandable_segments = false;
  setup.pools = false;
  Pair pair(setup);
  const auto before = *in_range(0, 120);
  const auto within = *in_range(0, 60);
  for (int i = 0; i < before; ++i) pair.make(any_step(setup));
  const AllocatorState start = pair.real().export_state();
  std::vector<TraceEntry> history;
  pair.real().observe([&](const TraceEntry& entry) { history.push_back(entry); });
  for (int i = 0; i < within; ++i) pair.make(any_step(setup));
  Diagnostics diagnostics;
  const AllocatorState rewound = rewind(pair.real().export_state(), history, setup.configuration, "test", diagnostics);
  RC_ASSERT(diagnostics.empty());
  RC_ASSERT(without_slack(rewound) == without_slack(start));
}

}  // namespace
}  // namespace interlace::allocator
