#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/launch/run_on_cpu.hpp"

namespace interlace::engine {

/// How a run ended: what it computed, or the error that it ended with.
struct Ending {
  std::vector<float> losses;
  std::uint64_t digest = 0;  ///< of all parameters
  std::vector<Validation> validations;
  std::string error;

  /// Bit by bit, NaN equal to NaN.
  [[nodiscard]] bool same_as(const Ending& other) const;
};

[[nodiscard]] Ending end_of(const schedule::Schedule& schedule, const Workload& workload,
                            std::optional<std::uint64_t> seed, const cpu::HostReads* foreseen = nullptr);

/// A built-in workload on so many ranks.
[[nodiscard]] Workload workload_on(const std::string& name, int ranks);

/// The built-in schedule without what the JSON pointer leads to.
[[nodiscard]] schedule::Schedule without(const std::string& schedule, const std::string& pointer);

}  // namespace interlace::engine
