#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "simulator/allocator/caching_allocator.hpp"

namespace interlace::allocator {

/// The rules of PyTorch's allocator once more, written to be read and not to be fast: one map of blocks by address, and
/// every question answered by looking at all of them. It shares the configuration and the driver's addresses with the
/// real one, and nothing else.
class ReferenceAllocator {
 public:
  struct Answer {
    bool out_of_memory = false;
    Address address = 0;
    Bytes size = 0;
    bool synchronised = false;
    std::optional<Nanoseconds> waited_until;
  };

  /// Ways to be wrong on purpose: a comparison must see each.
  enum class Fault {
    kNone,
    kHighestAddress,    ///< of free blocks of one size the last one is taken
    kNeverMerges,       ///< neighbours stay apart
    kAlwaysSplits,      ///< large blocks give up rests of any size
    kForgetsStreams,    ///< a free does not wait for the streams of record_stream
    kRoundsToPowers,    ///< sizes become powers of two
    kSharesAllStreams,  ///< a block of any stream will do
  };

  ReferenceAllocator(const Configuration& configuration, DriverMemory memory, Completion completion,
                     Fault fault = Fault::kNone);

  Answer malloc(Bytes requested, Stream stream, Nanoseconds now);
  void free(Address address, const std::vector<StreamUse>& uses);
  void complete(Address address);
  void synchronise();
  std::optional<Nanoseconds> empty_cache();

  void set_pool_options(PoolId pool, const PoolOptions& options) { pool_options(pool) = options; }
  void begin_allocate_to_pool(PoolId pool, std::function<bool(Stream)> takes);
  void end_allocate_to_pool(PoolId pool);
  void release_pool(PoolId pool) { --users_.at(pool); }

  [[nodiscard]] AllocatorState state() const;
  /// Counted afresh from the blocks; peaks of what only grows at the end of a malloc, or as it is now.
  [[nodiscard]] Statistics statistics() const;

 private:
  enum class What { kFree, kUsed, kPending, kNoMemory };
  struct Segment {
    Address address = 0;
    Bytes size = 0;
    Stream stream = 0;
    bool small = false;
    PoolId pool;
    bool expandable = false;
  };
  struct Piece {
    Bytes size = 0;
    Bytes requested = 0;
    What what = What::kFree;
    std::int64_t age_base = 0;
    std::size_t segment = 0;
    std::size_t events = 0;
  };
  using Pieces = std::map<Address, Piece>;
  struct Key {
    PoolId pool;
    bool small = false;
    Stream stream = 0;
  };

  PoolOptions& pool_options(PoolId pool);
  [[nodiscard]] Bytes rounded(Bytes requested) const;
  [[nodiscard]] std::optional<Pieces::iterator> left_of(Pieces::iterator piece);
  [[nodiscard]] std::optional<Pieces::iterator> right_of(Pieces::iterator piece);
  [[nodiscard]] bool alone(Pieces::iterator piece) { return !left_of(piece) && !right_of(piece); }
  [[nodiscard]] std::vector<Pieces::iterator> free_pieces(const Key& key);
  [[nodiscard]] bool counts_searches() const { return cap_ && configuration_.garbage_collection_threshold > 0; }
  [[nodiscard]] bool may_expand(PoolId pool);
  [[nodiscard]] Bytes held() const;
  std::int64_t& searches(const Piece& piece);

  std::optional<Pieces::iterator> find(const Key& key, Bytes size, bool expanding);
  std::optional<Pieces::iterator> from_driver(const Key& key, Bytes size);
  std::optional<Pieces::iterator> from_expandable(const Key& key, Bytes size);
  std::optional<Pieces::iterator> give_memory(Pieces::iterator piece, Bytes size);
  std::optional<Pieces::iterator> from_overflow(Key& key, Bytes size);
  void poll(Nanoseconds now);
  void record(Address address, const std::vector<StreamUse>& uses);
  void done(Address address);
  Pieces::iterator join(Pieces::iterator piece);
  void collect_garbage();
  bool release_oversize(const Key& key, Bytes size);
  std::optional<Nanoseconds> release_all();
  void release_pool_memory(PoolId pool, bool small);
  void give_back(Pieces::iterator piece);
  void take_pages(Pieces::iterator piece);

  Configuration configuration_;
  DriverMemory memory_;
  Completion completion_;
  Fault fault_;
  std::optional<Bytes> cap_;
  Pieces pieces_;
  std::map<std::size_t, Segment> segments_;
  std::size_t next_segment_ = 0;
  std::map<std::pair<PoolId, bool>, std::int64_t> searches_;
  std::map<Stream, std::deque<std::pair<Nanoseconds, Address>>> events_;
  std::vector<Address> waiting_;
  std::vector<std::pair<Address, std::vector<StreamUse>>> deferred_;
  std::vector<std::pair<PoolId, std::function<bool(Stream)>>> routes_;
  std::vector<std::pair<PoolId, PoolOptions>> options_;  ///< in the order in which pools came
  std::map<PoolId, std::int64_t> users_;
  Statistics counts_;  ///< the counters, and the peaks
};

}  // namespace interlace::allocator
