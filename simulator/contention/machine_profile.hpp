#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"

namespace interlace::contention {

inline constexpr ErrorCode kBadMachineProfile{"contention.bad_machine_profile"};

/// What a machine profile (docs/calibrate.md) says of what the simulation assumes; none where it does not tell.
struct MachineProfile {
  std::string source;  ///< the file
  std::string gpu;     ///< name of the GPU that was measured; empty where it is not told
  bool quick = false;  ///< measured with few repeats, which is not for predictions
  /// From the start of a launch call to the work on an idle stream; measured to when the host sees that it ran.
  std::optional<double> launch_latency_ns;
  std::optional<double> wait_latency_ns;  ///< from the end of what a stream waited for to its next work
  std::optional<double> dispatch_gap_ns;  ///< between works queued on one stream
  /// What another stream of its queue that waits adds to that gap, and besides a copy from the host.
  std::optional<double> fetch_beside_work_ns;
  std::optional<double> fetch_beside_copies_ns;
  /// Of streaming and index-following kernels to collectives of 32 CTAs (memory_slowdown). The CTAs of the measured
  /// collective come from how much it slowed a kernel bound by compute: SMs * (1 - 1 / slowdown).
  std::optional<double> streaming_sensitivity;
  std::optional<double> gather_sensitivity;
  std::optional<double> host_copy_rate;       ///< of a host copy beside a collective, as a part of that alone
  std::optional<double> lost_to_host_copies;  ///< part of its progress that a collective loses to host copies

  /// What it tells, in words with values, in a fixed order, but for what `recorded` names: a recording goes before it.
  [[nodiscard]] std::vector<std::string> values(std::span<const std::string> recorded = {}) const;
};

/// Throws Error(contention.bad_machine_profile), which names the file and the field.
[[nodiscard]] MachineProfile parse_machine_profile(std::string_view json, const std::string& source);
[[nodiscard]] MachineProfile read_machine_profile(const std::filesystem::path& file);

}  // namespace interlace::contention
