#pragma once

#include <string>

#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// The schedule for a reader at a terminal: what it is, its streams, and a table of the steps in host order with their
/// line, batch, stream, and what the stream or the host waits for.
[[nodiscard]] std::string describe(const Schedule& schedule);

}  // namespace interlace::schedule
