#pragma once

#include <optional>
#include <string>

#include "simulator/ingest/read.hpp"
#include "simulator/stages/profile.hpp"
#include "simulator/trace_check/staged_work.hpp"

namespace interlace::cli {

/// The profile in the user's file; where none was named the built-in one that fits the recording.
/// Throws as stages::read_profile does.
[[nodiscard]] stages::Profile profile_for(const std::optional<std::string>& file, const trace::Trace& trace);

/// What the device did for each stage: by the ranges that name stages, as predicted traces have them, where there are
/// some and the user named no profile; else by profile_for(). Which batch a stage works on is known in the first case
/// only. Throws as stages::cut and profile_for do.
[[nodiscard]] trace_check::StagedWork staged(ingest::Recording& recording, const std::optional<std::string>& profile);

}  // namespace interlace::cli
