#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// False for sends and receives: these are of two ranks of the group, and in no order that ranks have in common.
[[nodiscard]] bool is_of_all_ranks(const trace::Trace& trace, trace::OperationId collective);

/// Whether two kernels of different ranks can be of one collective: they are of one function and overlap in time, as
/// far as the ranks' clocks tell.
[[nodiscard]] bool may_belong_together(const trace::Trace& trace, trace::OperationId a, trace::OperationId b);

/// The collectives of one rank by their recorded sequence numbers; none where one has none, or two have the same, as
/// those of one that takes several kernels.
using Numbered = std::map<std::int64_t, trace::OperationId>;
[[nodiscard]] std::optional<Numbered> by_sequence(const trace::Trace& trace,
                                                  std::span<const trace::OperationId> collectives);

/// How the collectives of two ranks lie beside each other, each in the order in which its rank has them.
struct Alignment {
  std::ptrdiff_t shift = 0;  ///< the i-th of the first rank is beside the (i + shift)-th of the other
  std::ptrdiff_t pairs = 0;  ///< that lie beside each other
  std::ptrdiff_t fit = 0;    ///< of these, those that may belong together
};

/// The alignment in which most pairs may belong together, of those that join the middle collective of `first` with one
/// of `other` that may belong to it. None where fewer than half do. O(n).
[[nodiscard]] std::optional<Alignment> align(const trace::Trace& trace, std::span<const trace::OperationId> first,
                                             std::span<const trace::OperationId> other);

}  // namespace interlace::graph
