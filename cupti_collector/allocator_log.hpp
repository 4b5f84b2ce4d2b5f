#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cupti_collector/block_book.hpp"
#include "cupti_collector/torch_hooks/allocator_interface.hpp"
#include "simulator/base/units.hpp"

namespace interlace::collector {

/// One event of PyTorch's allocator with what follows from all before it.
struct AllocatorRow {
  std::int64_t thread = 0;
  Nanoseconds time = 0;
  hook::Event event;
  std::optional<Bytes> block;      ///< size of the block
  std::optional<Bytes> allocated;  ///< by the device's allocator, after the event
  std::optional<Bytes> reserved;
};

/// Puts the events of all threads in the order of the allocator's lock, which is that of their times, and follows its
/// blocks.
class AllocatorLog {
 public:
  /// settings: as of PYTORCH_CUDA_ALLOC_CONF. is_whole: no block was handed out before the first event.
  void begin(std::string_view settings, bool is_whole);
  void add(std::int64_t thread, Nanoseconds time, const hook::Event& event);
  /// Events are missing, of those that wait or came before: totals are not known from there on.
  void lost() { is_whole_ = false; }
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Whether the allocator told of anything itself; of record_stream its forwarder does.
  [[nodiscard]] bool has_told() const { return has_told_; }
  /// Whether events wait that are not just the reading of a state.
  [[nodiscard]] bool has_events() const;
  /// The events before `until`. Later ones wait: threads are read one after another, so that an earlier event of
  /// another thread may still come.
  [[nodiscard]] std::vector<AllocatorRow> take(Nanoseconds until);
  /// When the states of devices 0, 1, ... were read, of the last reading: its events name no device.
  [[nodiscard]] std::vector<Nanoseconds> take_snapshot_times() { return std::exchange(snapshots_, {}); }

 private:
  void follow(AllocatorRow& row);

  BlockBook::Settings settings_;
  bool has_told_ = false;
  bool is_whole_ = false;  ///< all events so far are known, from the first block on
  std::map<std::int32_t, BlockBook> books_;
  std::vector<Nanoseconds> snapshots_;
  std::vector<AllocatorRow> waiting_;
};

}  // namespace interlace::collector
