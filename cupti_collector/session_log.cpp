#include "cupti_collector/session_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>

#include "cupti_collector/file_output.hpp"

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

namespace {

int open_log(const std::filesystem::path& folder) {
  constexpr int kPermissions = 0666;
  const auto open_it = [&] {
    return beyond_standard_streams(
        open(session_log_file(folder).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kPermissions));
  };
  const int file = open_it();
  if (file >= 0 || errno != ENOENT) return file;
  std::error_code failure;
  if (!std::filesystem::create_directories(folder, failure) && failure) {
    errno = failure.value();
    return -1;
  }
  return open_it();
}

}  // namespace

void write_log(const std::filesystem::path& folder, std::string_view kind, std::string_view text) noexcept {
  std::string line(kind);
  line += kSeparator;
  line += std::to_string(getpid());
  line += kSeparator;
  line += one_line(program_invocation_short_name);
  line += kSeparator;
  line += one_line(text);
  line += '\n';
  const int before = errno;
  const int file = open_log(folder);
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    static_cast<void>(dprintf(STDERR_FILENO, "interlace record: process %d cannot write to %s: %s%s%s\n", getpid(),
                              folder.c_str(), std::generic_category().message(errno).c_str(), text.empty() ? "" : "; ",
                              std::string(text).c_str()));
  }
  if (file >= 0) close(file);
  errno = before;
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
