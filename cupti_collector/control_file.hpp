#pragma once

#include <filesystem>
#include <optional>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// A file in a recording's folder by which others stop recording and let it go on, in all its processes: it holds `on`
/// or `off`.
class ControlFile {
 public:
  explicit ControlFile(const std::filesystem::path& folder) : path_(file(folder)) {}

  [[nodiscard]] static std::filesystem::path file(const std::filesystem::path& folder) { return folder / "control"; }
  /// Writes it, whole or not at all. False where that fails.
  [[nodiscard]] static bool write(const std::filesystem::path& folder, bool is_on);
  /// What it holds.
  [[nodiscard]] static std::optional<bool> read(const std::filesystem::path& file);

  /// What it says now, where that has changed; looks at most each tenth of a second.
  [[nodiscard]] std::optional<bool> changed(Nanoseconds now);

 private:
  std::filesystem::path path_;
  std::optional<bool> last_;
  Nanoseconds looked_ = 0;
};

}  // namespace interlace::collector
