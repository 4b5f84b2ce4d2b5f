#pragma once

#include <filesystem>
#include <optional>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// A file in a recording's folder by which others stop recording and let it go on, in all its processes: it holds `on`,
/// `off` or, where the last part is kept in memory, `dump`.
class ControlFile {
 public:
  explicit ControlFile(const std::filesystem::path& folder) : path_(file(folder)) {}

  [[nodiscard]] static std::filesystem::path file(const std::filesystem::path& folder) { return folder / "control"; }
  /// Writes it, whole or not at all. False where that fails.
  [[nodiscard]] static bool write(const std::filesystem::path& folder, bool is_on);
  /// Writes that processes are to write what they keep in memory (--last), each time anew.
  [[nodiscard]] static bool write_dump(const std::filesystem::path& folder);
  /// Removes it, with what a killed writer left.
  static void remove(const std::filesystem::path& folder);
  /// What it holds.
  [[nodiscard]] static std::optional<bool> read(const std::filesystem::path& file);

  /// What it says now, where that has changed; looks at most each tenth of a second. now: of a clock that nobody sets.
  [[nodiscard]] std::optional<bool> changed(Nanoseconds now);

  /// Whether it says `dump`, and did not when asked before, or was written since; looks at most each tenth of a second.
  [[nodiscard]] bool wants_dump(Nanoseconds now);

 private:
  std::filesystem::path path_;
  std::optional<bool> last_;
  Nanoseconds looked_ = 0;
  Nanoseconds looked_for_dump_ = 0;
  std::filesystem::file_time_type dumped_{};  ///< the file's time when it was last obeyed
};

}  // namespace interlace::collector
