#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/compare/render.hpp"

namespace interlace::gui {

struct RenderRequest {
  std::filesystem::path out;  ///< .png, .svg or .pdf
  std::vector<std::filesystem::path> recordings;
  std::vector<std::string> schedules;      ///< names, files, or "all" built-in ones that apply
  std::optional<stages::Profile> profile;  ///< as of open_recording()
  RenderOptions options;
};

/// Draws measured beside predicted into a file. Needs a QGuiApplication but no display. Returns what is to be said of
/// the picture, a line each. Throws Error.
[[nodiscard]] std::vector<std::string> render(const RenderRequest& request);

/// "1920x1080". Throws gui.bad_size.
void set_size(RenderOptions& options, const std::string& text);
inline constexpr ErrorCode kBadSize{"gui.bad_size"};

}  // namespace interlace::gui
