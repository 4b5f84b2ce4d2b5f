#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cupti_collector/record/launch.hpp"
#include "cupti_collector/record/recorded_files.hpp"
#include "cupti_collector/session_log.hpp"

namespace interlace::collector {

/// kFlaws: only what went wrong, and what could not be recorded; empty where all is well.
enum class Telling : std::uint8_t { kAll, kFlaws };

/// What a recording came to, as lines for the user: how the program ended, an account of each file, what could not be
/// recorded. A recording that is not whole begins its lines with "NOT OK". has_driver: whether this machine has a CUDA
/// driver at all.
[[nodiscard]] std::string summary(const std::filesystem::path& folder, const ProgramEnd& program,
                                  const std::vector<RecordedFile>& files, const std::vector<LogLine>& log,
                                  bool has_driver, Telling telling = Telling::kAll);

}  // namespace interlace::collector
