#pragma once

#include <filesystem>

#include "engine/job/job_store.hpp"
#include "engine/launch/world.hpp"
#include "engine/runtime/progress.hpp"

namespace interlace::engine {

/// For a recording whose ranks were started by others than start_ranks(): nobody has made its folder before them. All
/// ranks call it. Each makes the folder, which hosts may share or not; when all have done so, and none has found
/// another recording in it, all return, and what they record says that it belongs together. Throws
/// engine.cannot_record.
void share_recording_folder(JobStore& store, const WorldPlace& world, const std::filesystem::path& folder,
                            Progress& progress);

}  // namespace interlace::engine
