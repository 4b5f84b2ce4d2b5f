#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/cli/console.hpp"
#include "simulator/ingest/read.hpp"

namespace interlace::cli {

/// Of the option that names recordings.
inline constexpr const char* kRecordingsHelp =
    "Recordings of one run: PyTorch-profiler traces, one a rank, .ilt files, or folders of them";

/// Reads what the user named, with progress. Throws as ingest::read does.
[[nodiscard]] ingest::Recording read_recording(const std::vector<std::string>& files, Console& console);

}  // namespace interlace::cli
