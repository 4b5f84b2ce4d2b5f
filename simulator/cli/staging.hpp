#pragma once

#include <optional>
#include <string>

#include "simulator/ingest/read.hpp"
#include "simulator/stages/profile.hpp"
#include "simulator/trace_check/staged_work.hpp"

namespace interlace::cli {

/// The profile that the user named, a built-in one or a file; where none was named the built-in one that fits the
/// recording. Throws as stages::load_profile does.
[[nodiscard]] stages::Profile profile_for(const std::optional<std::string>& named, const trace::Trace& trace);

/// Of the option that names it.
inline constexpr const char* kProfileHelp =
    "How the recorded code annotates its stages: torchrec, interlace (the engine's) or a file "
    "(docs/annotation_profiles.md); the one of the two that fits where absent";

/// What the device did for each stage: by the ranges that name stages, as predicted traces have them, where there are
/// some and the user named no profile; else by profile_for(). Which batch a stage works on is known in the first case
/// only. Throws as stages::cut and profile_for do.
[[nodiscard]] trace_check::StagedWork staged(ingest::Recording& recording, const std::optional<std::string>& profile);

}  // namespace interlace::cli
