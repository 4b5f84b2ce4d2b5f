#include "cupti_collector/control_file.hpp"

#include <fstream>
#include <string>
#include <system_error>

#include "cupti_collector/file_output.hpp"

namespace interlace::collector {

namespace fs = std::filesystem;

namespace {

bool write_word(const fs::path& file, const char* word) {
  const fs::path fresh = unfinished(file);
  {
    std::ofstream out(fresh);
    out << word << '\n';
    if (!out.flush()) return false;
  }
  std::error_code failure;
  fs::rename(fresh, file, failure);
  return !failure;
}

std::string word_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

constexpr Nanoseconds kPeriod = 100 * kMillisecond;

}  // namespace

bool ControlFile::write(const fs::path& folder, bool is_on) { return write_word(file(folder), is_on ? "on" : "off"); }

bool ControlFile::write_dump(const fs::path& folder) { return write_word(file(folder), "dump"); }

void ControlFile::remove(const fs::path& folder) {
  std::error_code ignored;
  fs::remove(file(folder), ignored);
  fs::remove(unfinished(file(folder)), ignored);
}

std::optional<bool> ControlFile::read(const fs::path& file) {
  const std::string word = word_in(file);
  if (word == "on") return true;
  return word == "off" ? std::optional(false) : std::nullopt;
}

std::optional<bool> ControlFile::changed(Nanoseconds now) {
  if (now - looked_ < kPeriod) return std::nullopt;
  looked_ = now;
  const std::optional<bool> is_on = read(path_);
  if (!is_on || is_on == last_) return std::nullopt;
  last_ = is_on;
  return is_on;
}

bool ControlFile::wants_dump(Nanoseconds now) {
  if (now - looked_for_dump_ < kPeriod) return false;
  looked_for_dump_ = now;
  std::error_code failure;
  const auto written = fs::last_write_time(path_, failure);
  if (failure || written == dumped_ || word_in(path_) != "dump") return false;
  dumped_ = written;
  return true;
}

}  // namespace interlace::collector
