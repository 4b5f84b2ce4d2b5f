#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace interlace::report {

/// A record of RFC 4180: values quoted where it asks for that.
void write_csv_line(std::ostream& out, const std::vector<std::string>& values);

}  // namespace interlace::report
