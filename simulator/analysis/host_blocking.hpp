#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// How a host call waits for the device.
enum class BlockKind : std::uint8_t { kStreamSync, kEventSync, kDeviceSync, kBlockingCopy, kOtherSync };

[[nodiscard]] std::string_view to_string(BlockKind kind);

/// How a host call blocks its thread; none for a call that does not. Besides synchronisations that is a call whose copy
/// was over before the call returned: a copy to or from pageable memory, or one on pinned memory that the program asked
/// for as a blocking copy (its call is not an ...Async one).
[[nodiscard]] std::optional<BlockKind> blocks_host(const trace::Trace& trace, trace::OperationId host_call);

/// What the host waits for in one place of the program.
struct HostBlock {
  std::string stage;  ///< place_of() the calls; "" outside all
  BlockKind kind = BlockKind::kOtherSync;
  Nanoseconds blocked_ns = 0;  ///< a step, mean over ranks
  double calls = 0;            ///< a step, mean over ranks

  bool operator==(const HostBlock&) const = default;
};

/// Where the host threads spend time blocked within the windows, largest first.
[[nodiscard]] std::vector<HostBlock> host_blocking(const trace::Trace& trace, const Annotations& annotations,
                                                   std::span<const StepWindow> windows);

/// The sum over all places, a step.
[[nodiscard]] Nanoseconds total_blocked(std::span<const HostBlock> blocks);

}  // namespace interlace::analysis
