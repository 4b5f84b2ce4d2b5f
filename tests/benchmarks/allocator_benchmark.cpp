// Events (a malloc or a free) per second of the allocator model, beside the same rules on std::set as a yardstick.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "simulator/allocator/caching_allocator.hpp"
#include "simulator/allocator/size_class.hpp"

namespace interlace::allocator {
namespace {

constexpr Nanoseconds kStep = 1'000;

/// A malloc or the free of an earlier one.
struct Event {
  std::uint32_t tensor = 0;
  Bytes size = 0;  ///< of a malloc; 0: a free
  Stream stream = 0;
  bool used_elsewhere = false;  ///< of a free
};

/// Sizes of a recorded training step of a recommendation model: bytes, and how often in a hundred.
constexpr std::array<std::pair<Bytes, int>, 16> kSizes{{{512, 20},
                                                        {4, 6},
                                                        {65536, 12},
                                                        {655360, 10},
                                                        {1048576, 6},
                                                        {1310720, 6},
                                                        {2048, 8},
                                                        {13107200, 6},
                                                        {33554432, 4},
                                                        {67108864, 4},
                                                        {127800120, 4},
                                                        {255579120, 4},
                                                        {38675168, 4},
                                                        {4194304, 2},
                                                        {8388608, 2},
                                                        {524288000, 2}}};

/// Steps of mallocs and frees about `live` tensors: lifetimes from a few events to the whole step, three streams, every
/// twentieth free of a tensor that another stream used.
std::vector<Event> training(std::size_t events, std::size_t live) {
  std::mt19937 random(7);  // NOLINT: the same work each time
  std::vector<Bytes> sizes;
  for (const auto& [size, share] : kSizes) sizes.insert(sizes.end(), static_cast<std::size_t>(share), size);
  std::vector<Event> made;
  std::vector<std::uint32_t> in_use;
  std::uint32_t tensors = 0;
  while (made.size() < events) {
    const bool grow = in_use.size() < live / 2 || (in_use.size() < live * 2 && random() % 2 == 0);
    if (grow) {
      const Stream stream = random() % 10 < 8 ? 0 : 1 + random() % 2;
      made.push_back({tensors, sizes[random() % sizes.size()], stream, false});
      in_use.push_back(tensors++);
    } else {
      // Young tensors die first, mostly.
      const std::size_t back =
          random() % 4 != 0 ? random() % std::min<std::size_t>(in_use.size(), 16) : random() % in_use.size();
      const std::size_t chosen = in_use.size() - 1 - back;
      made.push_back({in_use[chosen], 0, 0, random() % 20 == 0});
      in_use.erase(in_use.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  return made;
}

/// The default rules alone, with a node for each block and std::set as free lists: what one writes first.
class SetAllocator {
 public:
  struct Block {
    Address address = 0;
    Bytes size = 0;
    Stream stream = 0;
    bool small = false;
    bool free = true;
    Block* previous = nullptr;
    Block* next = nullptr;
  };

  Block* malloc(Bytes requested, Stream stream) {
    const Bytes size = round_size(requested, configuration_);
    auto& free = is_small(size) ? small_ : large_;
    const auto found = free.lower_bound({stream, size, 0, nullptr});
    Block* block = nullptr;
    if (found != free.end() && std::get<0>(*found) == stream) {
      block = std::get<3>(*found);
      free.erase(found);
    } else {
      const Bytes segment = segment_size(size, configuration_);
      block = made({next_address_, segment, stream, is_small(size)});
      next_address_ += static_cast<Address>(segment);
      reserved_ += segment;
    }
    const Bytes rest = block->size - size;
    if (block->small ? rest >= kMinBlockSize : rest > kSmallSize) {
      Block* tail = made({block->address + static_cast<Address>(size), rest, stream, block->small});
      tail->previous = block;
      tail->next = block->next;
      if (tail->next != nullptr) tail->next->previous = tail;
      block->next = tail;
      block->size = size;
      free.insert({stream, rest, tail->address, tail});
    }
    block->free = false;
    return block;
  }

  void free(Block* block) {
    auto& free = block->small ? small_ : large_;
    for (Block* other : {block->previous, block->next}) {
      if (other == nullptr || !other->free) continue;
      free.erase({other->stream, other->size, other->address, other});
      if (other == block->previous) {
        block->address = other->address;
        block->previous = other->previous;
        if (block->previous != nullptr) block->previous->next = block;
      } else {
        block->next = other->next;
        if (block->next != nullptr) block->next->previous = block;
      }
      block->size += other->size;
      gone_.push_back(other);
    }
    block->free = true;
    free.insert({block->stream, block->size, block->address, block});
  }

  [[nodiscard]] Bytes reserved() const { return reserved_; }

 private:
  Block* made(const Block& block) {
    if (gone_.empty()) return &blocks_.emplace_back(block);
    Block* const place = gone_.back();
    gone_.pop_back();
    *place = block;
    return place;
  }

  Configuration configuration_;
  std::deque<Block> blocks_;
  std::vector<Block*> gone_;
  std::set<std::tuple<Stream, Bytes, Address, Block*>> small_;
  std::set<std::tuple<Stream, Bytes, Address, Block*>> large_;
  Address next_address_ = Address{1} << 40;
  Bytes reserved_ = 0;
};

constexpr std::size_t kEvents = 1'000'000;

void model(benchmark::State& state) {
  const auto events = training(kEvents, static_cast<std::size_t>(state.range(0)));
  std::vector<BlockId> blocks(events.size());
  Bytes reserved = 0;
  std::size_t free_blocks = 0;
  for (auto _ : state) {
    CachingAllocator allocator;
    Nanoseconds now = 0;
    for (const Event& event : events) {
      now += kStep;
      if (event.size > 0) {
        blocks[event.tensor] = allocator.malloc(event.size, event.stream, now).allocation->block;
      } else if (event.used_elsewhere) {
        const std::array use{StreamUse{9, now + 100 * kStep}};
        allocator.free(blocks[event.tensor], now, use);
      } else {
        allocator.free(blocks[event.tensor], now);
      }
    }
    reserved = allocator.statistics().reserved_bytes.all.peak;
    free_blocks = allocator.free_blocks({}, false, 0).size() + allocator.free_blocks({}, true, 0).size();
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(kEvents), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["reserved_GiB"] = static_cast<double>(reserved) / static_cast<double>(kGiB);
  state.counters["free_blocks"] = static_cast<double>(free_blocks);
}

/// Without deferred frees, statistics, pools and the rest: less work an event than the model does.
void peer_with_std_set(benchmark::State& state) {
  const auto events = training(kEvents, static_cast<std::size_t>(state.range(0)));
  std::vector<SetAllocator::Block*> blocks(events.size());
  Bytes reserved = 0;
  for (auto _ : state) {
    SetAllocator allocator;
    for (const Event& event : events) {
      if (event.size > 0) {
        blocks[event.tensor] = allocator.malloc(event.size, event.stream);
      } else {
        allocator.free(blocks[event.tensor]);
      }
    }
    reserved = allocator.reserved();
    benchmark::DoNotOptimize(reserved);
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(kEvents), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["reserved_GiB"] = static_cast<double>(reserved) / static_cast<double>(kGiB);
}

/// One round takes the best fit for a random size out of a list of `range(0)` entries and puts another in.
template <class List>
void best_fit_and_insert(benchmark::State& state) {
  constexpr std::size_t kRounds = 1 << 16;
  std::mt19937 random(7);  // NOLINT: the same work each time
  std::vector<Bytes> sizes(kRounds);
  for (Bytes& size : sizes)
    size = kMinBlockSize * static_cast<Bytes>(1 + random() % (random() % 2 == 0 ? 64 : 1 << 18));
  List list;
  Address address = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    list.add(sizes[static_cast<std::size_t>(i) % kRounds], address += 512);
  std::size_t round = 0;
  for (auto _ : state) {
    list.take(sizes[round]);
    round = (round + 7919) % kRounds;
    list.add(sizes[round], address += 512);
  }
  state.SetItemsProcessed(state.iterations());
}

struct Bins {
  FreeList list;
  void add(Bytes size, Address address) { list.insert({size, address, {}}); }
  void take(Bytes size) {
    auto found = list.lower_bound(size);
    if (found == list.end()) found = list.begin();
    list.erase(found);
  }
};

struct Set {
  std::set<std::tuple<Bytes, Address, BlockId>> list;
  void add(Bytes size, Address address) { list.emplace(size, address, BlockId{}); }
  void take(Bytes size) {
    auto found = list.lower_bound({size, 0, {}});
    if (found == list.end()) found = list.begin();
    list.erase(found);
  }
};

BENCHMARK_TEMPLATE(best_fit_and_insert, Bins)->Arg(30)->Arg(300)->Arg(3000)->Arg(30000);
BENCHMARK_TEMPLATE(best_fit_and_insert, Set)->Arg(30)->Arg(300)->Arg(3000)->Arg(30000);
BENCHMARK(model)->Arg(150)->Arg(1500)->Arg(15000)->Unit(benchmark::kMillisecond);
BENCHMARK(peer_with_std_set)->Arg(150)->Arg(1500)->Arg(15000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace interlace::allocator
