#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "simulator/analysis/idle_causes.hpp"
#include "simulator/analysis/memory.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "simulator/analysis/steps.hpp"
#include "simulator/analysis/streams.hpp"
#include "simulator/analysis/tallies.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

/// One rank as `interlace info` tells of it.
struct RankInfo {
  trace::Rank rank;
  std::optional<analysis::FoundSteps> steps;
  analysis::StepWindow window;       ///< what the device figures "a step" are taken over
  analysis::StepWindow host_window;  ///< the same of what the host waits for
  analysis::OverlapSummary overlap;
};

/// Whether figures "a step" are of a step, not of all that was recorded.
[[nodiscard]] inline bool has_steps(const RankInfo& rank) { return analysis::has_whole_step(rank.steps); }

struct StreamInfo {
  std::int32_t rank = 0;
  std::string name;
  std::optional<std::int32_t> priority;
  analysis::StreamUse use;
};

/// The memory of one rank.
struct MemoryInfo {
  std::int32_t rank = 0;
  analysis::MemoryUse use;
  std::vector<std::string> stream_names;  ///< of use.streams; empty where the stream is not known
};

/// What a recording holds.
struct InfoReport {
  std::vector<RankInfo> ranks;
  Nanoseconds length = 0;
  std::array<std::int64_t, trace::kOperationKinds> operations{};
  std::vector<StreamInfo> streams;  ///< rank by rank, the busiest first
  std::vector<analysis::CollectiveTally> collectives;
  std::vector<analysis::KernelTally> kernels;
  std::vector<analysis::HostBlock> host_blocks;
  bool host_ahead = false;  ///< the recording ends before the hosts wait as in the long run (analysis::StepWindows)
  std::vector<analysis::IdleTime> idle;
  std::vector<MemoryInfo> memory;  ///< of the ranks that recorded theirs
  analysis::NoteTally notes;
  std::vector<Diagnostic> diagnostics;
};

/// kernels: how many of the costliest to tell.
[[nodiscard]] InfoReport make_info(const trace::Trace& trace, const Diagnostics& diagnostics, std::size_t kernels);

void write_info_table(std::ostream& out, const InfoReport& info, const TextStyle& style);
void write_info_json(std::ostream& out, const InfoReport& info);

}  // namespace interlace::report
