#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "engine/launch/train.hpp"

namespace interlace::engine {

/// What `run` shows: what was run, and what each rank's training gave.
struct RunReport {
  std::string workload;
  std::string schedule;
  std::string device;
  std::int64_t warmup = 0;                      ///< steps before the timed ones
  std::int64_t timed_steps = 0;                 ///< without those before and after
  std::int64_t batch = 0;                       ///< samples a batch and rank
  bool digest = true;                           ///< whether the ranks took one
  std::map<std::string, std::string> settings;  ///< of NCCL, from the environment
  std::vector<RankResult> ranks;
};

/// Of all ranks: validations that did not pass.
[[nodiscard]] std::int64_t wrong_reads(const RunReport& report);

/// JSON: `losses` holds a value a step with all its bits, `tables` a digest of all parameters at the end (null where
/// none was taken), `ranks` the memory peaks of each rank with the time of each step and, where one was asked for, the
/// profile of a timed step, `validations` what each validate_output read.
void write_json(std::ostream& out, const RunReport& report);
void write_table(std::ostream& out, const RunReport& report);

}  // namespace interlace::engine
