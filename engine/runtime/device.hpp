#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "engine/runtime/buffer.hpp"
#include "engine/runtime/stream.hpp"

namespace interlace::engine {

class Profile;

/// A point in a stream's queue. Default: one that is over already.
class EventState {
 public:
  EventState() = default;
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
  EventState(EventState&&) = delete;
  EventState& operator=(EventState&&) = delete;
  virtual ~EventState() = default;
};
using Event = std::shared_ptr<EventState>;

/// The most memory that was in use at one time, in bytes.
struct MemoryPeaks {
  std::int64_t allocated = 0;  ///< in live blocks
  std::int64_t reserved = 0;   ///< taken by the pools
};

/// One rank's device, as CUDA shows it: streams, events, memory pools. All calls come from the rank's host thread and
/// return at once, but for host_wait(), host_read() and synchronize(). A failure throws interlace::Error that names
/// rank, stage and batch.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual StreamId make_stream(const std::string& name, int priority) = 0;
  virtual void launch(StreamId stream, Work work) = 0;
  /// Copies bytes in stream order, in any direction between device and pinned host memory.
  virtual void copy(StreamId stream, void* to, const void* from, std::size_t bytes) = 0;

  /// An event behind all that is queued on the stream so far.
  [[nodiscard]] virtual Event record(StreamId stream) = 0;
  /// Makes the stream wait; the host goes on.
  virtual void wait(StreamId waiter, const Event& event) = 0;
  virtual void host_wait(const Event& event) = 0;
  /// A stage goes on with sizes that copies to pinned memory have brought to [at, at + bytes); `copied` is behind them,
  /// on `stream`. The host waits, unless it knows them already.
  virtual void host_read(const Event& copied, StreamId stream, void* at, std::size_t bytes) = 0;
  /// An event that also keeps the time at which the stream came to it; on the CPU backend, the time at which the host
  /// did.
  [[nodiscard]] virtual Event record_time(StreamId stream) = 0;
  /// Between two events of record_time() that are over.
  [[nodiscard]] virtual double seconds_between(const Event& from, const Event& to) const = 0;
  /// The host waits for all streams.
  virtual void synchronize() = 0;

  /// Memory whose content is undefined, from the pool of a stream.
  [[nodiscard]] virtual std::shared_ptr<Block> allocate(std::size_t bytes, StreamId pool) = 0;
  /// Pinned host memory. It is the host's: only used_on() defers its reuse.
  [[nodiscard]] virtual std::shared_ptr<Block> allocate_host(std::size_t bytes) = 0;
  [[nodiscard]] virtual MemoryPeaks peaks() const = 0;

  /// Opens and closes a named range (NVTX) around what the host queues; ranges nest. Use Range.
  virtual void enter(const std::string& range) = 0;
  virtual void leave() noexcept = 0;

  /// Where times are taken; null: nowhere.
  [[nodiscard]] Profile* profile() const { return profile_; }
  /// profile: outlives its use here.
  void set_profile(Profile* profile) { profile_ = profile; }

  template <class T>
  [[nodiscard]] Buffer<T> buffer(std::size_t size, StreamId pool) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {allocate(size * sizeof(T), pool), size};
  }
  template <class T>
  [[nodiscard]] Buffer<T> host_buffer(std::size_t size) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {allocate_host(size * sizeof(T)), size};
  }
  /// waiter waits for all that is queued on `other` so far.
  void wait_stream(StreamId waiter, StreamId other) {
    if (waiter != other) wait(waiter, record(other));
  }

 private:
  Profile* profile_ = nullptr;
};

/// A range that closes on exceptions too.
class Range {
 public:
  Range(Device& device, const std::string& name) : device_(&device) { device.enter(name); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  Range(Range&&) = delete;
  Range& operator=(Range&&) = delete;
  ~Range() { device_->leave(); }

 private:
  Device* device_;
};

}  // namespace interlace::engine
