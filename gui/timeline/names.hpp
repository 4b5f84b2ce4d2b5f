#pragma once

#include <string>
#include <string_view>

#include "simulator/trace/trace.hpp"

namespace interlace::gui {

/// What an operation is called on a box: kernels without return type and parameters, annotations without the marks
/// that frameworks put around them ("## forward ##" -> "forward").
[[nodiscard]] std::string short_name(const trace::Trace& trace, trace::OperationId op);

/// The same in a line of text: cut in the middle where it is very long, as of templates whose names are not demangled.
[[nodiscard]] std::string line_name(const trace::Trace& trace, trace::OperationId op);

/// What a file is called when there is little room: "base.r0.json.gz".
[[nodiscard]] std::string file_name(std::string_view path);

}  // namespace interlace::gui
