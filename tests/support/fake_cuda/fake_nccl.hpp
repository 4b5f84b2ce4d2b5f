#pragma once

#include <cstdint>
#include <functional>

namespace interlace::testing {

/// NCCL's side of its profiler plugin interface: loads the plugin that NCCL_PROFILER_PLUGIN names and tells it of
/// communicators and tasks as NCCL 2.28 does, each version in its own words. A kernel is launched by the fake CUDA, and
/// its tasks are told right after, in the same thread.
class FakeNccl {
 public:
  /// Where the data of a kernel lies, and on how many channels it goes.
  static constexpr std::uintptr_t kSendAddress = 0x7f10'0000'0000;
  static constexpr std::uintptr_t kReceiveAddress = 0x7f20'0000'0000;
  static constexpr int kChannelCount = 12;

  /// version: 1 to 7, of the interface. Without a plugin all that follows just launches.
  explicit FakeNccl(int version);

  [[nodiscard]] bool has_plugin() const { return plugin_ != nullptr; }
  /// A communicator of so many ranks, this process's being the first; its id is equal on all.
  void* communicator(std::uint64_t id, const char* name, int ranks);
  void all_reduce(void* communicator, std::uint64_t count);
  /// As NCCL has it, the task counts bytes.
  void all_gather(void* communicator, std::uint64_t count);
  /// So many calls in one group, of 1, 2, 3 ... elements, each with a kernel of its own.
  void all_gathers(void* communicator, std::uint64_t calls);
  /// Sends and receives with all ranks, itself included, in one kernel; one part lies behind the other.
  void exchange(void* communicator, int ranks, std::uint64_t count);

 private:
  struct Task;
  void gather(void* communicator, void* parent, std::uint64_t count);
  void run(void* communicator, const char* kernel, const std::function<void()>& tell);
  void tell(void* communicator, const Task& task);
  static void* buffer_of(const Task& task);
  void* call(void* communicator, const Task& task);

  int version_;
  void* plugin_ = nullptr;
};

}  // namespace interlace::testing
