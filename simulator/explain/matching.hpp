#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/explain/work_names.hpp"

namespace interlace::explain {

/// Device work of one name and stage that the other run lacks.
struct Unmatched {
  bool measured = true;  ///< only the measured run has it; else only the predicted one
  std::string stage;
  std::string operation;
  double works = 0;         ///< a step, mean over ranks
  Nanoseconds time_ns = 0;  ///< a step, mean over ranks
};

/// Device work of one name and stage, on the critical path or hidden.
struct OperationTimes {
  std::string stage;
  std::string operation;
  std::int64_t works = 0;       ///< matched ones, a step
  Nanoseconds measured_ns = 0;  ///< all of them together, mean over ranks and steps; collectives without waiting
  Nanoseconds predicted_ns = 0;
};

/// Matched works of a stage that run at another place in the order of their stream.
struct Moved {
  std::string stage;
  double works = 0;  ///< a step, mean over ranks
  Nanoseconds time_ns = 0;
};

/// Matched works of a stage that do not run equally often: where a recording of few steps ends, no work comes for a
/// further batch.
struct Uneven {
  std::string stage;
  double measured = 0;  ///< works a step, mean over ranks
  double predicted = 0;
};

/// How the device work of two runs corresponds, by rank, stage, module, name and number in the stage.
struct Matching {
  double measured = 0;  ///< device works a step, mean over ranks
  double predicted = 0;
  double matched_measured = 0;             ///< of `measured`, those whose name the predicted run has, too
  double matched_predicted = 0;            ///< and the other way round
  std::vector<Unmatched> unmatched;        ///< longest time first
  std::vector<OperationTimes> operations;  ///< largest difference first; equal ones are left out
  std::vector<Moved> moved;                ///< longest time first
  std::vector<Uneven> uneven;              ///< largest difference first
};

/// What one name took in one run.
struct NameTimes {
  double works = 0;    ///< a step, mean over ranks
  double time_ns = 0;  ///< a step, mean over ranks
  /// Of one work with its peers there: the mean over batches of the shortest on any rank for collectives, else of all.
  double own_ns = 0;
};

/// A run, and the ranks of it (positions in its trace) that the other run has, too, in the same order.
struct ComparedRun {
  const Run* run = nullptr;
  const NamedWork* names = nullptr;
  std::vector<std::size_t> ranks;
};

/// By NameId, of the works that start in the steps of the compared ranks.
[[nodiscard]] std::vector<NameTimes> name_times(const ComparedRun& compared, std::size_t known);

/// before, now: name_times() of the two.
[[nodiscard]] Matching match(const ComparedRun& measured, std::span<const NameTimes> before,
                             const ComparedRun& predicted, std::span<const NameTimes> now, const WorkNames& known);

}  // namespace interlace::explain
