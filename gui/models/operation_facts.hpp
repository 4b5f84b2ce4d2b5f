#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/session/run.hpp"
#include "gui/timeline/dependency.hpp"

namespace interlace::gui {

/// All that a trace tells about one operation, for the details panel: (what, how much). Times count from `anchor`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of_operation(
    const Run& run, trace::OperationId op, Nanoseconds anchor, const std::vector<Dependency>& dependencies);

/// How the same piece of work differs in another run: "starts 1.2 ms earlier, lasts 0.1 ms longer". Starts count from
/// the anchors.
[[nodiscard]] std::string change_text(const trace::Trace& trace, trace::OperationId op, Nanoseconds anchor,
                                      const trace::Trace& other, trace::OperationId other_op, Nanoseconds other_anchor);

/// A line for the status bar: name, duration, stage.
[[nodiscard]] std::string headline_of_operation(const Run& run, trace::OperationId op);

}  // namespace interlace::gui
