#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/allocator/block_table.hpp"
#include "simulator/allocator/configuration.hpp"
#include "simulator/allocator/driver_memory.hpp"
#include "simulator/allocator/event_queues.hpp"
#include "simulator/allocator/pools.hpp"
#include "simulator/allocator/state.hpp"
#include "simulator/allocator/statistics.hpp"
#include "simulator/allocator/trace_entry.hpp"
#include "simulator/allocator/types.hpp"
#include "simulator/allocator/usage.hpp"

namespace interlace::allocator {

inline constexpr ErrorCode kUnknownCapacity{"allocator.unknown_capacity"};

/// When the free of a block that other streams used becomes complete.
enum class Completion : std::uint8_t {
  /// At the first malloc at or after the moments given in the free at which those streams have drained.
  kTimed,
  /// At the next malloc.
  kNextMalloc,
  /// At the first malloc after synchronise().
  kSynchronise,
  /// When complete() is called; so also for blocks that no other stream used. For recordings, which tell the moment.
  kDriven,
};

struct Allocation {
  BlockId block;
  Address address = 0;
  Bytes size = 0;            ///< of the block: the rounded request, or more where the rest was not worth a split
  bool from_driver = false;  ///< it took a new segment, or new memory in an expandable one
};

struct MallocResult {
  std::optional<Allocation> allocation;  ///< none: out of memory
  /// The allocator gave back all its cached memory first, for which the device was synchronised. Some streams may have
  /// drained only at `waited_until`; none: nothing was waited for.
  bool synchronised = false;
  std::optional<Nanoseconds> waited_until;
};

/// A block that an imported state holds: in use, or waiting for streams.
struct ImportedBlock {
  BlockRecord record;
  BlockId block;
};

/// PyTorch's caching allocator of one CUDA device ("native" back end, as of 2.11), without a device.
///
/// Memory comes from the driver in segments. A segment belongs to one stream and one pool (small blocks, large blocks,
/// or a private pool's of either) for as long as it lives, and is cut into blocks, which form a list by address. A
/// free block is in the free list of its arena, the pair of pool and stream, and serves only that pair.
///
/// malloc, in this order:
///   1. Poll the events of earlier frees: those that are done complete their blocks.
///   2. Round the request up (round_size()); at most 1 MiB: small pool.
///   3. Best fit: the smallest free block of the arena that is large enough, of equal ones the lowest address. With
///      max_split_size set, small requests and oversize blocks keep apart.
///   4. Nothing fits: collect old blocks (garbage_collection_threshold), then ask the driver for a segment. Refused:
///      overflow pools, then release just enough oversize blocks, then synchronise and release every unused segment,
///      asking again after each. The free lists are not searched again: a block that the synchronising completed
///      inside a partly used segment does not help, and the request fails although a second try would succeed (as in
///      PyTorch).
///   5. Cut off the rest if it is large enough: 512 bytes in the small pool and in expandable segments, more than
///      1 MiB in the large pool. Otherwise the block keeps it, so that allocated bytes depend on what was free.
/// free: the block leaves the allocated bytes at once. If other streams used it, an event on each is waited for
/// (see Completion) and it stays active so long; then it merges with its free neighbours and enters the free list.
/// Nothing goes back to the driver on free.
///
/// Expandable segments reserve addresses for more than the whole device and put memory behind them page by page; see
/// expandable_segments.cpp. Private pools take over mallocs while a route to them is open; meanwhile no event is
/// polled and nothing is synchronised.
///
/// Not modelled: callbacks that free memory, the reuse of blocks inside a graph capture by its topology, locks.
/// Not thread safe; copies are independent.
class CachingAllocator {
 public:
  /// Throws Error(allocator.unknown_capacity) if the configuration limits the process to a part of the device's memory
  /// and `memory` does not say how much there is.
  explicit CachingAllocator(const Configuration& configuration = {}, DriverMemory memory = DriverMemory{},
                            Completion completion = Completion::kTimed);

  /// Puts a recorded state into a new allocator. Its statistics count as if the blocks had just been allocated. What a
  /// state does not tell: the ages of free blocks (0 here), the streams that pending blocks wait for (see
  /// expect_events()), where the address ranges of expandable segments begin and end (at the first memory, and as far
  /// as a new one would reach).
  /// Returns the blocks in use and pending, in order of address. REQUIRES: nothing was allocated so far.
  /// Throws Error(allocator.bad_state); `source` names the state's origin.
  std::vector<ImportedBlock> import_state(const AllocatorState& state, std::string_view source);
  [[nodiscard]] AllocatorState export_state() const;

  /// Calls `observer` with each entry of the allocator's history from now on, as it happens.
  void observe(std::function<void(const TraceEntry&)> observer) { observer_ = std::move(observer); }

  /// A block for `requested` bytes on `stream` at host time `now`. Times must not go backwards.
  /// REQUIRES: requested > 0. (PyTorch's allocator is never asked for 0 bytes.)
  MallocResult malloc(Bytes requested, Stream stream, Nanoseconds now);

  /// Frees a block in use. `uses`: the streams that record_stream() named, with the moments at which they drain; the
  /// block's own stream is passed over. While a route to a private pool is open, a block with uses is set aside until
  /// the first malloc after it, and the events count as recorded then.
  void free(BlockId block, Nanoseconds now, std::span<const StreamUse> uses = {});

  /// Completes a pending block that no event will complete: one freed under Completion::kDriven, or an imported one.
  void complete(BlockId block, Nanoseconds now);

  /// Tells which streams an imported pending block waits for. Until then it waits for synchronise().
  void expect_events(BlockId block, std::span<const StreamUse> uses);

  /// The device was synchronised: all events so far are done, to be seen by the next malloc.
  void synchronise();

  /// torch.cuda.empty_cache(): synchronises, then gives all unused segments back. The moment that was waited for; none:
  /// nothing was. With a route to a private pool open, only pools without users are emptied.
  std::optional<Nanoseconds> empty_cache(Nanoseconds now);

  /// Makes a private pool, or sets the options of one. A new one has one user.
  void set_pool_options(PoolId pool, const PoolOptions& options);
  /// Opens a route: mallocs of streams for which `takes` holds go to this pool, which is made where there is none and
  /// has one user more. Of several routes the one opened last is asked first.
  void begin_allocate_to_pool(PoolId pool, std::function<bool(Stream)> takes);
  /// Closes the route. REQUIRES: it is open.
  void end_allocate_to_pool(PoolId pool);
  /// One user less; a pool without users gives back its unused memory like the default pool. REQUIRES: it has users.
  void release_pool(PoolId pool);

  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  void reset_peaks() { statistics_.reset_peaks(); }

  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  [[nodiscard]] const DriverMemory& memory() const { return memory_; }
  [[nodiscard]] Bytes size_of(BlockId block) const { return blocks_[block].size; }
  [[nodiscard]] Address address_of(BlockId block) const { return blocks_[block].address; }

  /// One row for each pair of pool and stream that was ever used: default pool first, small before large, by stream.
  [[nodiscard]] std::vector<ArenaUsage> usage() const;
  /// The sizes and addresses of the free blocks of one arena, best fit first.
  [[nodiscard]] std::vector<BlockRecord> free_blocks(PoolId pool, bool small, Stream stream) const;

 private:
  struct Request {
    Bytes rounded = 0;
    Bytes segment = 0;  ///< what a new segment would take
    ArenaId arena;
    bool small = false;
    bool expandable = false;  ///< may use expandable segments
  };
  struct Route {
    PrivatePoolIndex pool;
    std::function<bool(Stream)> takes;
  };
  struct Deferred {
    BlockId block;
    std::vector<StreamUse> uses;
  };
  struct ExpandableSegment {
    Address address = 0;
    Bytes size = 0;
    Bytes page = 0;

    [[nodiscard]] Address end() const { return address + static_cast<Address>(size); }
  };

  /// An expandable segment that is being imported.
  struct OpenRange {
    ArenaId arena;
    ExpandableSegment segment;
    BlockId last;
  };

  // caching_allocator.cpp
  void process_events(Nanoseconds now);
  void record_events(BlockId block, std::span<const StreamUse> uses);
  void event_done(BlockId block, Nanoseconds now);
  void forget_waiting(BlockId block);
  [[nodiscard]] PoolIndex pool_for(bool small, Stream stream) const;
  [[nodiscard]] Request request_for(Bytes requested, Stream stream);
  [[nodiscard]] std::optional<BlockId> best_fit(const Request& request);
  [[nodiscard]] std::optional<BlockId> get_segment(const Request& request, Nanoseconds now);
  [[nodiscard]] std::optional<BlockId> take_from_overflow_pools(Request& request, Stream stream);
  [[nodiscard]] std::optional<BlockId> obtain(Request& request, Stream stream, Nanoseconds now, MallocResult& result);
  [[nodiscard]] bool should_split(const Block& block, const Request& request) const;
  void hand_out(BlockId block, const Request& request, Bytes requested, Nanoseconds now);
  void complete_free(BlockId block, Nanoseconds now);
  Bytes merge(BlockId into, std::optional<BlockId> neighbour);
  void put_in_free_list(BlockId block);
  void take_from_free_list(BlockId block);
  void trace(Action action, Address address, Bytes size, const Arena& arena, Nanoseconds now) const;

  // release.cpp
  void collect_garbage(Nanoseconds now);
  [[nodiscard]] bool release_oversize_blocks(const Request& request, Nanoseconds now);
  std::optional<Nanoseconds> release_cached_blocks(Nanoseconds now);
  std::optional<Nanoseconds> synchronise_and_complete(Nanoseconds now);
  void release_blocks(PoolIndex pool, Nanoseconds now);
  void release_segment(BlockId block, Nanoseconds now);

  // expandable_segments.cpp
  [[nodiscard]] std::optional<BlockId> grow_expandable(const Request& request, Nanoseconds now);
  [[nodiscard]] BlockId find_room(const Request& request);
  [[nodiscard]] bool has_room(BlockId start, Bytes size) const;
  [[nodiscard]] BlockId new_expandable_segment(ArenaId arena, bool small);
  [[nodiscard]] bool map(BlockId block, Bytes size, Nanoseconds now);
  void unmap_whole_pages(BlockId block, Nanoseconds now);
  [[nodiscard]] const ExpandableSegment& expandable_segment_of(Address address) const;
  [[nodiscard]] Bytes page_size(bool small) const;
  [[nodiscard]] Bytes range_size(Bytes page) const;
  void add_expandable_segment(const ExpandableSegment& segment);
  void put_in_unmapped(BlockId block);
  void take_from_unmapped(BlockId block);
  [[nodiscard]] FreeList::Position prefer_less_growable(const FreeList& free, FreeList::Position position) const;

  // import_export.cpp
  BlockId import_blocks(const SegmentRecord& segment, ArenaId arena, std::optional<BlockId> previous,
                        std::vector<ImportedBlock>& live);
  void import_expandable(const SegmentRecord& segment, ArenaId arena, std::vector<OpenRange>& open,
                         std::vector<ImportedBlock>& live);
  BlockId append_unmapped(BlockId after, Address end);
  void close_range(const OpenRange& range);
  void count_imported_segment(const SegmentRecord& segment, Arena& arena);
  void count_imported_block(const Block& block);

  Configuration configuration_;
  DriverMemory memory_;
  Completion completion_;
  std::optional<Bytes> cap_;  ///< what the process may hold at most
  BlockTable blocks_;
  PoolTable pools_;
  EventQueues events_;
  std::vector<BlockId> waiting_;  ///< pending blocks without events
  std::vector<BlockId> done_;     ///< those that the next malloc completes
  std::vector<Deferred> deferred_;
  std::vector<Route> routes_;
  std::vector<ExpandableSegment> expandable_segments_;  ///< by address
  Statistics statistics_;
  std::function<void(const TraceEntry&)> observer_;
};

}  // namespace interlace::allocator
