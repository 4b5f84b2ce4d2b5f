#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/cli/console.hpp"
#include "simulator/ingest/read.hpp"

namespace interlace::cli {

/// Reads what the user named, with progress: profiler recordings, one file a rank, or one .ilt trace. Throws as
/// ingest::read and trace::read_ilt do, and cli.several_ilt.
[[nodiscard]] ingest::Recording read_recording(const std::vector<std::string>& files, Console& console);

}  // namespace interlace::cli
