#pragma once

#include <string>

#include "simulator/trace/trace.hpp"

namespace interlace::trace {

/// The rank as it is before it was written to an .ilt file, for one that was read from there.
[[nodiscard]] Rank as_recorded(Rank rank);

/// Says where two traces first differ, in anything that a Trace tells; empty where they are equal.
[[nodiscard]] std::string first_difference(const Trace& a, const Trace& b);

}  // namespace interlace::trace
