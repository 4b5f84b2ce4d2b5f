#pragma once

#include <cstddef>
#include <cstdint>

/// What passes between libinterlace_collector.so, which knows nothing of LibTorch, and libinterlace_torch_allocator.so,
/// which is built against one version of it: plain data and C functions.
namespace interlace::collector::hook {

enum class Action : std::uint32_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,  ///< the state was read: it has all that came before, and nothing that comes later
  kOutOfMemory,
  kRecordStream,  ///< the block at the address is used on this stream too
};

/// One event of PyTorch's caching allocator.
struct Event {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   ///< of a block: as asked for; of a segment: its size; 0 of a record_stream
  std::uint64_t stream = 0;  ///< cudaStream_t as a number
  std::int32_t device = 0;   ///< CUDA's ordinal
  Action action = Action::kAlloc;
};

/// Where events go. Called in the program's threads, mostly under the allocator's lock: it must not block, allocate
/// device memory or throw.
using Take = void (*)(const Event& event) noexcept;

struct Segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t pool_first = 0;
  std::uint64_t pool_second = 0;
  std::int32_t device = 0;
  bool is_large = false;
  bool is_expandable = false;
};
struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;
  bool is_allocated = false;
  bool is_active = false;  ///< allocated, or freed and still used by other streams
};
/// Takes a state piece by piece: each segment is followed by its blocks, by address.
struct StateSink {
  void* context = nullptr;
  void (*settings)(void* context, const char* text) = nullptr;
  void (*segment)(void* context, const Segment& segment) = nullptr;
  void (*block)(void* context, const Block& block) = nullptr;
};

/// What became of attaching.
enum class Attached : int {
  kYes,           ///< all events from now on; nothing was allocated before
  kLater,         ///< as soon as the program allocates: the allocator was there already
  kOtherVersion,  ///< the loaded torch is not the one that this was built for
  kOtherBackend,  ///< the program uses another allocator than PyTorch's own
  kFailed,
};

extern "C" {
/// Puts a forwarding allocator in front of PyTorch's, once in a process. why: receives an explanation where it is not
/// attached.
[[gnu::visibility("default")]] Attached interlace_torch_allocator_attach(Take take, char* why,
                                                                         std::size_t why_bytes) noexcept;
/// Reads what the allocator holds; false where that fails. Takes the allocator's lock; any thread that does not hold
/// it.
[[gnu::visibility("default")]] bool interlace_torch_allocator_state(const StateSink& sink) noexcept;
}

}  // namespace interlace::collector::hook
