#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"

namespace interlace::ingest {

/// Both lie in each folder that `predict --out` writes, which is told by them.
inline constexpr std::string_view kMeasuredTrace = "measured.ilt";
inline constexpr std::string_view kAnswerFile = "report.json";

/// The files to read: what was named, and instead of a folder the traces in it by name (numbers in it by their value),
/// that is its files that end in .ilt, .json, .json.gz, .sqlite or .sqlite.gz, but for notes (.notes.json). All else in
/// a folder, also folders in it, counts ingest.other_files. Throws ingest.no_files (nothing was named, or a folder
/// without traces), ingest.folder_of_predictions (one that `predict --out` wrote), ingest.cannot_open.
[[nodiscard]] std::vector<std::filesystem::path> trace_files(std::span<const std::filesystem::path> named,
                                                             Diagnostics& diagnostics);

}  // namespace interlace::ingest
