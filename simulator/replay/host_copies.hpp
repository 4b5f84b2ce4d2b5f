#pragma once

#include <optional>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Copies below this size take their time to start, not to move.
inline constexpr Bytes kLeastHostCopy = 1'000'000;

/// A recorded copy between host and GPU.
struct HostCopy {
  double bytes;
  double ns_a_byte;
  double beside;  ///< part of its time in which a collective moved data
};

/// All of at least kLeastHostCopy.
struct HostCopies {
  IntervalSet busy;  ///< when one of them ran, on any rank
  std::vector<HostCopy> copies;
};

/// transfers: when collectives moved data; what waits for peers takes nothing from a copy.
[[nodiscard]] HostCopies host_copies(const trace::Trace& trace, const SiteTable& table, const IntervalSet& transfers);

/// What a byte of a host copy takes by itself and beside a collective, in ns.
struct HostCopyCosts {
  double alone;
  double beside;
};

/// A copy that spends the part p of its time beside a collective that moves data goes at 1 / alone +
/// p * (1 / beside - 1 / alone) bytes a ns: the line of least squares, each copy by its bytes. None where there are
/// fewer than four copies, or all have about the same part.
[[nodiscard]] std::optional<HostCopyCosts> seen_host_copy_costs(const std::vector<HostCopy>& copies);

/// Mean time of a byte by itself, in ns, where copies run at `rate` of their pace beside collectives.
/// REQUIRES: copies is not empty.
[[nodiscard]] double mean_cost_alone(const std::vector<HostCopy>& copies, double rate);

}  // namespace interlace::replay
