#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/cli/console.hpp"
#include "simulator/ingest/read.hpp"

namespace interlace::cli {

/// Reads what the user named, with progress. Throws as ingest::read does.
[[nodiscard]] ingest::Recording read_recording(const std::vector<std::string>& files, Console& console);

}  // namespace interlace::cli
