#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "simulator/base/units.hpp"
#include "simulator/trace/operation.hpp"

namespace interlace::collector {

/// What threads of the program say of themselves: marks, ranges and names. Each thread writes to a ring of its own,
/// without locks, and the writer thread empties them. A full ring loses what comes, which is counted; where there is no
/// writer yet, it forgets what came first.
class HostEvents {
 public:
  enum class Kind : std::uint8_t {
    kMark,
    kPush,  ///< begins a range that the thread's next pop of the same domain ends; they nest
    kPop,
    kStart,  ///< begins a range that an end with its number ends, in any thread
    kEnd,
    kNameThread,    ///< number: the thread's id
    kNameCategory,  ///< extra: the domain and the category
    kAllocator,     ///< name: the bytes of a hook::Event
    kStreamMade,    ///< name: the bytes of a StreamMade
    kCommunicator,  ///< name: the bytes of a NcclCommunicator
    kNcclTask,      ///< name: the bytes of a NcclTask
  };
  /// The domain of autograd's operators, which no library makes.
  static constexpr std::uint32_t kOperators = UINT32_MAX;
  /// What few events have beside their name.
  struct Extra {
    std::uint64_t payload = 0;  ///< the bits of a number; of an operator its sequence number
    std::uint32_t domain = 0;
    std::uint32_t category = 0;        ///< 0: none
    std::uint32_t forward_thread = 0;  ///< of an operator of a backward, as PyTorch counts threads; 0: none
    trace::NumberType payload_type = trace::NumberType::kInt64;
    bool has_payload = false;
    bool operator==(const Extra&) const = default;
  };
  struct Event {
    Kind kind = Kind::kMark;
    bool is_of_library = false;  ///< a library says it of itself, not the program
    std::uint32_t number = 0;    ///< of a mark, push or pop: its domain; else see the kinds
    std::int64_t thread = 0;     ///< added
    Nanoseconds time = 0;        ///< added
    std::string_view name;       ///< empty for a pop and an end; lives until the callback returns
    std::optional<Extra> extra;
  };

  HostEvents();
  HostEvents(const HostEvents&) = delete;
  HostEvents& operator=(const HostEvents&) = delete;
  /// REQUIRES: no thread adds any more.
  ~HostEvents();

  /// The number of a range that starts, for its end; it comes again behind four billion others.
  [[nodiscard]] static std::uint32_t next_range() noexcept;

  /// Of whom an event tells; losses are counted for each.
  enum class Teller : std::uint8_t { kProgram, kAllocator, kNccl };
  [[nodiscard]] static Teller teller_of(Kind kind);

  /// Any thread. The name is cut to 4 KiB; thread and time are this thread's and now.
  void add(const Event& event) noexcept;
  void add(Kind kind, std::string_view name) noexcept { add(Event{.kind = kind, .name = name}); }
  /// Gives all events so far; those of one thread in their order. One thread.
  void drain(const std::function<void(const Event&)>& take);
  [[nodiscard]] std::int64_t lost(Teller teller) const {
    return lost_[static_cast<std::size_t>(teller)].load(std::memory_order_relaxed);
  }

  /// Events that were forgotten for later ones while nobody drained: of threads with much to say, and of many that
  /// ended.
  [[nodiscard]] std::int64_t forgotten() const { return forgotten_.load(std::memory_order_relaxed); }

 private:
  struct Ring;
  struct ThreadRing;
  class Holding;
  [[nodiscard]] Ring* ring_of_thread() noexcept;
  [[nodiscard]] Ring* take_over(std::int64_t thread) noexcept;
  [[nodiscard]] bool forget_oldest(Ring& ring, std::size_t bytes) noexcept;
  void forget(Ring& ring, std::uint64_t until) noexcept;

  std::uint64_t number_;  ///< of this object in the process: an address may come again
  std::atomic<Ring*> rings_{nullptr};
  std::array<std::atomic<std::int64_t>, 3> lost_{};  ///< by teller
  std::atomic<bool> is_drained_{false};              ///< somebody has begun to
  std::atomic<std::int64_t> forgotten_{0};
  std::atomic<std::int64_t> made_{0};  ///< rings
};

}  // namespace interlace::collector
