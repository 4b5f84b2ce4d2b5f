#pragma once

#include <fmt/format.h>

#include <string>

#include "simulator/check/schedule_check.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::check {

/// A schedule from its steps, with streams main, side and other.
inline schedule::Schedule steps(const std::string& lines) {
  return schedule::parse(R"({"interlace_schedule": 1, "name": "test/steps",
    "streams": {"main": {}, "side": {}, "other": {}},
    "iteration": [)" + lines +
                             "]}",
                         "test");
}

/// Between two steps.
inline const std::string kThen = ",";

/// A step of named data: work on a stream that reads and writes by name.
inline std::string work(const std::string& stream, const std::string& reads, const std::string& writes,
                        const std::string& more = "") {
  const auto list = [](const std::string& name) { return name.empty() ? "[]" : fmt::format(R"(["{}"])", name); };
  return fmt::format(R"({{"stage": "compute", "batch": 0, "stream": "{}", "reads": {}, "writes": {}{}}})", stream,
                     list(reads), list(writes), more);
}

}  // namespace interlace::check
