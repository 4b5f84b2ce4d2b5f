#include "cupti_collector/session_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

namespace interlace::collector {

namespace {

constexpr char kSeparator = '\t';
constexpr std::size_t kParts = 4;

std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == kSeparator; }, ' ');
  return line;
}

}  // namespace

std::filesystem::path session_log_file(const std::filesystem::path& folder) { return folder / "record.log"; }

void write_log(const std::filesystem::path& folder, std::string_view kind, std::string_view text) noexcept {
  std::string line(kind);
  line += kSeparator;
  line += std::to_string(getpid());
  line += kSeparator;
  line += one_line(program_invocation_short_name);
  line += kSeparator;
  line += one_line(text);
  line += '\n';
  constexpr int kPermissions = 0666;
  const int file = open(session_log_file(folder).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kPermissions);
  if (file < 0) return;
  if (write(file, line.data(), line.size()) < 0) errno = 0;
  close(file);
}

std::vector<LogLine> read_log(const std::filesystem::path& folder) {
  std::vector<LogLine> lines;
  std::ifstream in(session_log_file(folder));
  for (std::string text; std::getline(in, text) && !in.eof();) {
    std::array<std::string, kParts> parts;
    std::istringstream cells(text);
    for (std::string& part : parts) std::getline(cells, part, kSeparator);
    LogLine line{parts[0], 0, parts[2], parts[3]};
    const auto [end, error] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), line.process);
    if (error == std::errc() && end == parts[1].data() + parts[1].size()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace interlace::collector
