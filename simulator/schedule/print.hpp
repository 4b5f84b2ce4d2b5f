#pragma once

#include <string>

#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// The schedule as JSON text: one step a line, columns aligned, a line feed at the end. parse(print(s), s.source) == s
/// for each s that parse() can return.
[[nodiscard]] std::string print(const Schedule& schedule);

}  // namespace interlace::schedule
