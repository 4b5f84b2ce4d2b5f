#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// Follows the blocks of PyTorch's caching allocator by its events, which say what was asked for but not how large the
/// block is that was taken. That follows from the allocator's own rules: free neighbours are one block, a request is
/// rounded up to 512 bytes, and what remains of a free block is split off where it is large enough (512 bytes among
/// requests of at most 1 MiB and in expandable segments, else more than 1 MiB, and only of requests below
/// max_split_size). One device.
class BlockBook {
 public:
  struct Settings {
    std::optional<Bytes> max_split_size;  ///< none: all blocks are split
    bool is_rounding_known = true;        ///< false: requests are rounded in a way that is not followed here
  };
  explicit BlockBook(const Settings& settings) : settings_(settings) {}

  /// Memory of the driver: a segment of its own, or a part of an expandable one.
  void map(std::uint64_t address, Bytes bytes, std::uint64_t stream, bool is_expandable);
  void unmap(std::uint64_t address, Bytes bytes);
  /// Each gives the size of the block, where it is known.
  std::optional<Bytes> allocate(std::uint64_t address, Bytes requested);
  std::optional<Bytes> request_free(std::uint64_t address);
  std::optional<Bytes> complete_free(std::uint64_t address);
  [[nodiscard]] std::optional<Bytes> block_at(std::uint64_t address) const;

  /// Bytes of blocks that the program holds, and of segments; right where all events were seen.
  [[nodiscard]] Bytes allocated() const { return allocated_; }
  [[nodiscard]] Bytes reserved() const { return reserved_; }
  /// No event has contradicted what is in the book.
  [[nodiscard]] bool is_consistent() const { return is_consistent_; }

 private:
  enum class State : std::uint8_t { kFree, kAllocated, kPending };
  struct Space {
    Bytes bytes = 0;
    std::uint64_t stream = 0;
    bool is_expandable = false;
    State state = State::kFree;
  };
  using Spaces = std::map<std::uint64_t, Space>;

  [[nodiscard]] bool can_merge(Spaces::const_iterator left, Spaces::const_iterator right) const;
  void merge_around(Spaces::iterator space);
  [[nodiscard]] bool is_split(const Space& space, Bytes rounded) const;
  std::optional<Bytes> contradiction();

  Settings settings_;
  Spaces spaces_;                   ///< by address
  std::set<std::uint64_t> starts_;  ///< of segments that are not expandable
  Bytes allocated_ = 0;
  Bytes reserved_ = 0;
  bool is_consistent_ = true;
};

/// What of the settings (as of PYTORCH_CUDA_ALLOC_CONF) decides the size of blocks.
[[nodiscard]] BlockBook::Settings block_settings(std::string_view settings_text);

}  // namespace interlace::collector
