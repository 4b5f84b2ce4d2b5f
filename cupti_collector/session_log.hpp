#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace interlace::collector {

/// One line that a recorded process left for the summary.
struct LogLine {
  std::string kind;  ///< "process": one used CUDA; "note": something to be told; "failed": why a file's writing ended
  std::int64_t process = 0;
  std::string program;
  std::string text;

  bool operator==(const LogLine&) const = default;
};

/// The file in a recording's folder that processes append a line each to, whole or not at all; they may die at any
/// time. `interlace record` reads it for its summary and removes it.
[[nodiscard]] std::filesystem::path session_log_file(const std::filesystem::path& folder);
/// Appends a line of this process, and makes the folder where there is none: on another host there may not be. Where
/// that fails, the line goes to standard error: nobody else would tell.
void write_log(const std::filesystem::path& folder, std::string_view kind, std::string_view text) noexcept;
/// All whole lines; empty where there is no file.
[[nodiscard]] std::vector<LogLine> read_log(const std::filesystem::path& folder);

}  // namespace interlace::collector
