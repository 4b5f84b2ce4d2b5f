#pragma once

#include <filesystem>
#include <vector>

namespace interlace::gui {

/// The recording that comes with the program, all ranks, to try it with: in the folder `samples` beside one of the
/// folders above `from`. Empty where it is not there.
[[nodiscard]] std::vector<std::filesystem::path> sample_recording(const std::filesystem::path& from);

}  // namespace interlace::gui
