#include "gui/timeline/names.hpp"

#include "simulator/report/text.hpp"

namespace interlace::gui {

std::string short_name(const trace::Trace& trace, trace::OperationId op) {
  std::string_view name = trace.name(op);
  if (trace::is_device_work(trace.kind(op))) return report::short_kernel_name(name);
  constexpr std::string_view kMarks = "# ";
  const std::size_t first = name.find_first_not_of(kMarks);
  if (!name.starts_with("##") || first == std::string_view::npos) return std::string(name);
  return std::string(name.substr(first, name.find_last_not_of(kMarks) - first + 1));
}

std::string line_name(const trace::Trace& trace, trace::OperationId op) {
  constexpr std::size_t kColumns = 100;
  return report::shortened_middle(short_name(trace, op), kColumns);
}

std::string file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace interlace::gui
