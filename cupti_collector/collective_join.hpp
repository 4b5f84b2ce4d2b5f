#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cupti_collector/nccl_tasks.hpp"
#include "simulator/base/units.hpp"
#include "simulator/trace/operation.hpp"

namespace interlace::collector {

/// What NCCL said of the tasks that one kernel does, in the words of a trace.
struct CollectiveFacts {
  trace::CollectiveFunction function = trace::CollectiveFunction::kUnknown;
  std::string name;   ///< NCCL's
  std::string dtype;  ///< PyTorch's word for it
  std::string group;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int32_t group_size = 0;
  std::optional<std::int64_t> sequence;
  Bytes element_bytes = 0;
  std::int32_t channels = 0;               ///< of the task with the most; 0 unknown
  std::optional<std::uint64_t> in_buffer;  ///< of the first task that has one
  std::optional<std::uint64_t> out_buffer;
  std::int32_t part_alignment = 0;  ///< of an exchange in parts, as trace::CollectiveDetail has it
  std::int32_t own_part_alignment = 0;
};

/// Joins NCCL's tasks with the kernels that do them. NCCL tells of the tasks of a kernel right after it has launched
/// it, in the same thread: so they belong to the last launch of that thread before them. Where NCCL tells of them from
/// another thread, as for CUDA graphs, no launch is found and the kernel stays without.
class CollectiveJoin {
 public:
  void communicator(const NcclCommunicator& communicator) { communicators_[communicator.number] = communicator; }
  /// Whether there is anything to join: only then need launches be told and kernels wait.
  [[nodiscard]] bool is_used() const { return !communicators_.empty(); }
  /// Tasks of one thread in their order.
  void task(std::int64_t thread, Nanoseconds time, const NcclTask& task);
  /// A call that launches a kernel; calls of one thread in their order, or nearly so.
  void launch(std::int64_t thread, Nanoseconds end, std::int64_t correlation);
  /// Any call: those of its thread before it are known.
  void called(std::int64_t thread, Nanoseconds end) { known_until_[thread] = std::max(known_until_[thread], end); }
  /// To be called once all that was told by now is in: joins what it can.
  void settle();
  /// Of the kernel with this correlation, once.
  [[nodiscard]] std::optional<CollectiveFacts> take(std::int64_t correlation);

 private:
  struct Plan {
    std::int64_t thread = 0;
    std::uint32_t number = 0;
    Nanoseconds time = 0;  ///< of its first task
    std::int64_t round = 0;
    std::vector<NcclTask> tasks;
  };
  struct Launch {
    Nanoseconds end = 0;
    std::int64_t correlation = 0;
  };
  [[nodiscard]] std::optional<std::int64_t> launch_of(const Plan& plan) const;
  [[nodiscard]] CollectiveFacts facts_of(const Plan& plan) const;

  std::unordered_map<std::uint32_t, NcclCommunicator> communicators_;
  std::deque<Plan> plans_;                                         ///< not joined yet
  std::unordered_map<std::int64_t, std::deque<Launch>> launches_;  ///< by thread, the newest
  std::unordered_map<std::int64_t, Nanoseconds> known_until_;      ///< by thread
  std::map<std::int64_t, CollectiveFacts> known_;                  ///< by correlation
  std::unordered_map<std::int64_t, std::int64_t> last_joined_;     ///< correlation, by thread
  std::int64_t round_ = 0;
};

}  // namespace interlace::collector
