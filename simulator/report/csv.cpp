#include "simulator/report/csv.hpp"

#include <ostream>
#include <string_view>

namespace interlace::report {

namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void write_csv_line(std::ostream& out, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ",") << field(values[i]);
  out << "\r\n";
}

}  // namespace interlace::report
