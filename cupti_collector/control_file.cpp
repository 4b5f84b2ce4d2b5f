#include "cupti_collector/control_file.hpp"

#include <fstream>
#include <string>
#include <system_error>

namespace interlace::collector {

namespace fs = std::filesystem;

bool ControlFile::write(const fs::path& folder, bool is_on) {
  const fs::path fresh = file(folder).string() + ".new";
  {
    std::ofstream out(fresh);
    out << (is_on ? "on" : "off") << '\n';
    if (!out.flush()) return false;
  }
  std::error_code failure;
  fs::rename(fresh, file(folder), failure);
  return !failure;
}

std::optional<bool> ControlFile::read(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  if (word == "on") return true;
  return word == "off" ? std::optional(false) : std::nullopt;
}

std::optional<bool> ControlFile::changed(Nanoseconds now) {
  constexpr Nanoseconds kPeriod = 100 * kMillisecond;
  if (now - looked_ < kPeriod) return std::nullopt;
  looked_ = now;
  const std::optional<bool> is_on = read(path_);
  if (!is_on || is_on == last_) return std::nullopt;
  last_ = is_on;
  return is_on;
}

}  // namespace interlace::collector
