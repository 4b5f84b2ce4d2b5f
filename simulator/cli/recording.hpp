#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "simulator/cli/console.hpp"
#include "simulator/ingest/read.hpp"

namespace interlace::cli {

/// Of the option that names recordings.
inline constexpr const char* kRecordingsHelp =
    "Recordings of one run: PyTorch-profiler traces, one a rank, .ilt files, exports of Nsight Systems, or folders of "
    "them";

/// Of the option that names memory snapshots, and the option.
inline constexpr const char* kMemorySnapshotsHelp =
    "Memory snapshots of the recorded processes (torch.cuda.memory._dump_snapshot), one a rank";
inline constexpr const char* kMemorySnapshotsOption = "--memory-snapshot";

/// Adds that option to a subcommand whose recordings have no option. Each time it takes one word, so that it may stand
/// in front of the recordings.
void add_memory_snapshots(CLI::App& command, std::vector<std::string>& memory_snapshots);

/// Reads what the user named, with progress. memory_snapshots: one a rank, or none; those among `files` come behind
/// them. Throws as ingest::read does.
[[nodiscard]] ingest::Recording read_recording(const std::vector<std::string>& files,
                                               const std::vector<std::string>& memory_snapshots, Console& console);

/// Whether one word among others, recordings and schedules, is a schedule: the name of a built-in one, or a file that
/// is none of the formats of traces. A folder holds recordings.
[[nodiscard]] bool is_schedule(const std::string& input);

/// Throws Error(cli.output_is_input) where `output` is one of the files that the user named, or in a folder of them.
void refuse_overwriting(const std::string& output, const std::vector<std::string>& files);

}  // namespace interlace::cli
