#pragma once

#include <cstddef>
#include <cstdint>

/// What passes between libinterlace_collector.so, which knows nothing of LibTorch, and libinterlace_torch_ranges.so,
/// which is built against one version of it: plain data and C functions.
namespace interlace::collector::hook {

/// Who is told of PyTorch's ranges, in the threads that they are of. None of these may block or throw.
struct RangeListener {
  /// A range that the program names (`record_function`) begins; what it returns goes to `end`, which another thread may
  /// call.
  std::uint32_t (*begin)(const char* name) noexcept = nullptr;
  void (*end)(std::uint32_t number) noexcept = nullptr;
  /// An operator that autograd numbers, or a node of its backward, begins; they nest in each thread.
  /// sequence: negative where it has none, as what autograd's engine does around a node. forward_thread: of a node,
  /// PyTorch's number of the thread that ran the operator; else 0.
  void (*begin_operator)(const char* name, std::int64_t sequence, std::uint64_t forward_thread) noexcept = nullptr;
  void (*end_operator)() noexcept = nullptr;
};

enum class Operators : int { kNone, kOfAutograd };

extern "C" {
/// Has the listener told of all ranges that begin from now on, once in a process. False, and an explanation in `why`,
/// where that is impossible.
[[gnu::visibility("default")]] bool interlace_torch_ranges_attach(const RangeListener& listener, Operators operators,
                                                                  char* why, std::size_t why_bytes) noexcept;
}

}  // namespace interlace::collector::hook
