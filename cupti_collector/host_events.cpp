#include "cupti_collector/host_events.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <thread>

#include "cupti_collector/clock.hpp"

namespace interlace::collector {

namespace {

/// Memory that is not used is not taken: the system maps it with the first write.
constexpr std::size_t kRingBytes = 1U << 20U;
constexpr std::size_t kLongestName = 4U << 10U;
/// Before there is a writer, which makes them free again, no more rings than this are made for threads that end.
constexpr std::int64_t kMostEarlyRings = 256;

/// An event in a ring; what it has beside its name and the name follow, padded to a multiple of the head's size.
struct Head {
  Nanoseconds time = 0;
  std::uint32_t number = 0;
  std::uint16_t name_bytes = 0;
  HostEvents::Kind kind = HostEvents::Kind::kMark;
  bool is_of_library : 1 = false;
  bool has_extra : 1 = false;
};
static_assert(kRingBytes % sizeof(Head) == 0);

std::size_t extra_bytes(const Head& head) { return head.has_extra ? sizeof(HostEvents::Extra) : 0; }

std::size_t bytes_of(const Head& head) {
  return sizeof(Head) * (1 + (extra_bytes(head) + head.name_bytes + sizeof(Head) - 1) / sizeof(Head));
}

}  // namespace

/// Bytes [tail, head) are filled, counted without wrapping around. The rest is never read, and not cleared: a thread's
/// first mark would pay for it.
struct HostEvents::Ring {  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::atomic<std::uint64_t> head{0};
  std::atomic<std::uint64_t> tail{0};
  std::atomic<std::int64_t> thread{0};    ///< 0: free for another thread
  std::atomic<std::uint64_t> retired{0};  ///< its thread has ended, as which of all; 0: not yet
  std::atomic<int> owners{1};             ///< the list, and the thread while it lives
  std::atomic<bool> is_held{false};       ///< by who takes events out of it
  Ring* next = nullptr;
  std::array<unsigned char, kRingBytes> bytes;

  static void release(Ring* ring) {
    if (ring->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete ring;
  }

  void copy_in(std::uint64_t at, const void* from, std::size_t count) {
    const std::size_t place = at % kRingBytes;
    const std::size_t first = std::min(count, kRingBytes - place);
    std::memcpy(&bytes[place], from, first);
    std::memcpy(bytes.data(), static_cast<const unsigned char*>(from) + first, count - first);
  }
  void copy_out(std::uint64_t at, void* to, std::size_t count) const {
    const std::size_t place = at % kRingBytes;
    const std::size_t first = std::min(count, kRingBytes - place);
    std::memcpy(to, &bytes[place], first);
    std::memcpy(static_cast<unsigned char*>(to) + first, bytes.data(), count - first);
  }
};

/// Who takes events out of a ring holds it meanwhile: the writer, and before there is one the ring's own thread.
class HostEvents::Holding {
 public:
  enum class Patience : std::uint8_t { kNone, kAny };
  Holding(Ring& ring, Patience patience) : ring_(ring) {
    while (!(is_mine_ = !ring_.is_held.exchange(true, std::memory_order_acquire)) && patience == Patience::kAny) {
      std::this_thread::yield();
    }
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  ~Holding() {
    if (is_mine_) ring_.is_held.store(false, std::memory_order_release);
  }
  [[nodiscard]] bool is_mine() const { return is_mine_; }

 private:
  Ring& ring_;
  bool is_mine_ = false;
};

/// Gives the ring back when its thread ends, behind the destructors of all thread_locals, which may tell of events too:
/// it has none itself, and a key of the thread's is what ends it. The main thread keeps its ring to the last.
struct HostEvents::ThreadRing {
  std::uint64_t owner = 0;  ///< HostEvents::number_
  Ring* ring = nullptr;

  ThreadRing() = default;
  ThreadRing(const ThreadRing&) = delete;
  ThreadRing& operator=(const ThreadRing&) = delete;

  /// To be called before a ring is held; false where it could not be given back.
  bool watch_end() {
    static const auto kKey = []() -> std::optional<pthread_key_t> {
      pthread_key_t made{};
      const auto end = [](void* mine) { static_cast<ThreadRing*>(mine)->hold(0, nullptr); };
      return pthread_key_create(&made, end) == 0 ? std::optional(made) : std::nullopt;
    }();
    return kKey && pthread_setspecific(*kKey, this) == 0;
  }

  void hold(std::uint64_t new_owner, Ring* new_ring) {
    if (ring != nullptr) {
      static std::atomic<std::uint64_t> ended{0};
      ring->retired.store(ended.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_release);
      Ring::release(ring);
    }
    if (new_ring != nullptr) new_ring->owners.fetch_add(1, std::memory_order_relaxed);
    owner = new_owner;
    ring = new_ring;
  }
};

HostEvents::HostEvents()
    : number_([] {
        static std::atomic<std::uint64_t> next{1};
        return next.fetch_add(1, std::memory_order_relaxed);
      }()) {}

HostEvents::~HostEvents() {
  for (Ring* ring = rings_.load(); ring != nullptr;) {
    Ring* next = ring->next;
    Ring::release(ring);
    ring = next;
  }
}

/// The ring of the thread that ended first, without its events; null where there are few rings, none of an ended
/// thread, or a writer, which makes such rings free itself.
HostEvents::Ring* HostEvents::take_over(std::int64_t thread) noexcept {
  while (made_.load(std::memory_order_relaxed) >= kMostEarlyRings && !is_drained_.load(std::memory_order_relaxed)) {
    Ring* oldest = nullptr;
    std::uint64_t first = 0;
    for (Ring* ring = rings_.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
      const std::uint64_t retired = ring->retired.load(std::memory_order_relaxed);
      if (retired == 0 || (oldest != nullptr && retired > first)) continue;
      oldest = ring;
      first = retired;
    }
    if (oldest == nullptr) return nullptr;
    const Holding held(*oldest, Holding::Patience::kNone);
    if (!held.is_mine() || oldest->retired.load(std::memory_order_acquire) != first) continue;  // another was quicker
    forget(*oldest, oldest->head.load(std::memory_order_relaxed));
    oldest->retired.store(0, std::memory_order_relaxed);
    oldest->thread.store(thread, std::memory_order_relaxed);
    return oldest;
  }
  return nullptr;
}

/// Forgets its first events, at least up to there. REQUIRES: the ring is held.
void HostEvents::forget(Ring& ring, std::uint64_t until) noexcept {
  std::uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  for (; tail < until; forgotten_.fetch_add(1, std::memory_order_relaxed)) {
    Head oldest;
    ring.copy_out(tail, &oldest, sizeof(oldest));
    tail += bytes_of(oldest);
  }
  ring.tail.store(tail, std::memory_order_release);
}

HostEvents::Ring* HostEvents::ring_of_thread() noexcept {
  constinit thread_local ThreadRing mine;
  if (mine.owner == number_) return mine.ring;
  if (!mine.watch_end()) return nullptr;
  const auto thread = static_cast<std::int64_t>(syscall(SYS_gettid));
  for (Ring* ring = rings_.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    std::int64_t nobody = 0;
    if (!ring->thread.compare_exchange_strong(nobody, thread, std::memory_order_acq_rel)) continue;
    mine.hold(number_, ring);
    return ring;
  }
  if (Ring* ring = take_over(thread)) {
    mine.hold(number_, ring);
    return ring;
  }
  Ring* ring = new (std::nothrow) Ring;
  if (ring == nullptr) return nullptr;
  made_.fetch_add(1, std::memory_order_relaxed);
  ring->thread.store(thread, std::memory_order_relaxed);
  ring->next = rings_.load(std::memory_order_relaxed);
  while (!rings_.compare_exchange_weak(ring->next, ring, std::memory_order_release, std::memory_order_relaxed)) {
  }
  mine.hold(number_, ring);
  return ring;
}

std::uint32_t HostEvents::next_range() noexcept {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}

HostEvents::Teller HostEvents::teller_of(Kind kind) {
  switch (kind) {
    case Kind::kAllocator:
    case Kind::kStreamMade: return Teller::kAllocator;
    case Kind::kCommunicator:
    case Kind::kNcclTask: return Teller::kNccl;
    default: return Teller::kProgram;
  }
}

/// Makes room in the thread's own ring for so many bytes where nobody empties it yet; false where somebody does.
bool HostEvents::forget_oldest(Ring& ring, std::size_t bytes) noexcept {
  if (is_drained_.load(std::memory_order_relaxed)) return false;
  const Holding held(ring, Holding::Patience::kNone);
  if (!held.is_mine()) return false;
  const std::uint64_t end = ring.head.load(std::memory_order_relaxed) + bytes;
  if (end > kRingBytes) forget(ring, end - kRingBytes);
  return true;
}

void HostEvents::add(const Event& event) noexcept {
  Ring* ring = ring_of_thread();
  const std::string_view name = event.name.substr(0, kLongestName);
  const Head entry{recording_time(), event.number,        static_cast<std::uint16_t>(name.size()),
                   event.kind,       event.is_of_library, event.extra.has_value()};
  const std::size_t bytes = bytes_of(entry);
  const std::uint64_t head = ring == nullptr ? 0 : ring->head.load(std::memory_order_relaxed);
  const auto is_full = [&] { return head + bytes - ring->tail.load(std::memory_order_acquire) > kRingBytes; };
  if (ring == nullptr || (is_full() && !forget_oldest(*ring, bytes))) {
    lost_[static_cast<std::size_t>(teller_of(event.kind))].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ring->copy_in(head, &entry, sizeof(entry));
  if (event.extra) ring->copy_in(head + sizeof(entry), &*event.extra, sizeof(Extra));
  ring->copy_in(head + sizeof(entry) + extra_bytes(entry), name.data(), name.size());
  ring->head.store(head + bytes, std::memory_order_release);
}

void HostEvents::drain(const std::function<void(const Event&)>& take) {
  std::array<char, kLongestName> name{};
  is_drained_.store(true, std::memory_order_relaxed);
  for (Ring* ring = rings_.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    const Holding held(*ring, Holding::Patience::kAny);
    // Read first: what the thread wrote before it ended is seen below.
    const bool is_retired = ring->retired.load(std::memory_order_acquire) != 0;
    const std::uint64_t head = ring->head.load(std::memory_order_acquire);
    std::uint64_t tail = ring->tail.load(std::memory_order_relaxed);
    while (tail != head) {
      Head entry;
      ring->copy_out(tail, &entry, sizeof(entry));
      std::optional<Extra> extra;
      if (entry.has_extra) ring->copy_out(tail + sizeof(entry), &extra.emplace(), sizeof(Extra));
      ring->copy_out(tail + sizeof(entry) + extra_bytes(entry), name.data(), entry.name_bytes);
      take({.kind = entry.kind,
            .is_of_library = entry.is_of_library,
            .number = entry.number,
            .thread = ring->thread.load(std::memory_order_relaxed),
            .time = entry.time,
            .name = {name.data(), entry.name_bytes},
            .extra = extra});
      tail += bytes_of(entry);
      ring->tail.store(tail, std::memory_order_release);
    }
    if (!is_retired) continue;
    ring->retired.store(0, std::memory_order_relaxed);
    ring->thread.store(0, std::memory_order_release);
  }
}

}  // namespace interlace::collector
