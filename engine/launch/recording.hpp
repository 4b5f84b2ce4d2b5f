#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/launch/train.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kCannotRecord{"engine.cannot_record"};

/// Throws engine.cannot_record where the folder holds a recording already.
void check_recording_folder(const std::filesystem::path& folder);

/// Makes the folder of a recording, before any rank records. Throws engine.cannot_record where that is impossible, or
/// where it holds one already.
void make_recording_folder(const std::filesystem::path& folder);

/// What this process and those that it starts record from now on is of this run, which tells that the files of its
/// ranks belong together, unless the environment names another.
void set_recording_run(const std::string& run);

/// Lets the collector into this process, to record the timed steps into the folder, which is also told how long the
/// reference steps took: to be called once, before the first use of the GPU. program: this one; the collector library
/// is taken from ../lib beside it, else from where libraries are found. Throws as collector::start().
void record_timed_steps(const std::filesystem::path& folder, const std::filesystem::path& program,
                        TrainOptions& training);

/// What the collector had to say so far, a line each, leaves the folder, which holds the recording alone when all ranks
/// have ended. The collector has its last word as its process exits. Several processes may take, each line once.
[[nodiscard]] std::vector<std::string> take_notes(const std::filesystem::path& folder);

}  // namespace interlace::engine
