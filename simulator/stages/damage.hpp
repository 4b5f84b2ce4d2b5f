#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/stages/annotation_index.hpp"
#include "simulator/stages/classifier.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

/// Host time of a rank in which the recording lacks something that an iteration needs.
struct Damage {
  Interval host;
  std::string what;
};

/// Launches whose work is not recorded, and the times between which work was launched whose launch is not: work starts
/// in the order of launch on its stream, so between the launches of the work before and behind it, and not after it
/// started.
[[nodiscard]] std::vector<Damage> find_damage(const trace::Trace& trace, trace::RankId rank);

/// Iterations in which backward runs at least twice as often as in others: the mark of an end between is missing. A
/// lone iteration is compared with what is recorded before and behind it, and where that has no backward, with one.
/// Parts of a backward are one: they have names of their own or the number of the iteration.
[[nodiscard]] std::vector<Damage> find_doubled_iterations(const trace::Trace& trace, const RankCut& cut,
                                                          const ThreadAnnotations& loop, Classifier& classifier);

/// Keeps on every rank the longest run of iterations, one after another, that hold no damage; on no rank those that run
/// while another's damaged ones do. Keeps all where some rank would be left without.
/// damage: a rank. Counts stages.damaged_iterations, stages.no_sound_iteration.
void leave_out_damaged(Cut& cut, std::span<const std::vector<Damage>> damage, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kDamagedIterations{
    "stages.damaged_iterations", Severity::kDataLoss,
    "iterations left out for what the recording lacks in them or beside them: device work, launches or the mark of an "
    "end",
    "see the place; record again where too few remain"};
inline constexpr DiagnosticKind kNoSoundIteration{
    "stages.no_sound_iteration", Severity::kDataLoss,
    "iterations that lack device work, launches or the mark of an end, used since no others remain",
    "see the place; predictions are off by what is missing: record again"};

}  // namespace interlace::stages
