#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// A replayed rank has one GPU. Counts, of each rank whose process used several, the works that ran on another device
/// than most of them.
void count_other_devices(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kSeveralDevices{
    "replay.several_devices", Severity::kWarning,
    "device work of a process that ran on another GPU than most of its work; the replay has one GPU a rank and puts "
    "all "
    "of it there",
    "predictions for this process mean nothing: record one process a GPU (as torchrun starts them)"};

}  // namespace interlace::replay
