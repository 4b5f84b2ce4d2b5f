#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "engine/launch/train.hpp"

namespace interlace::engine {

/// What `run` shows: what was run, and what each rank's training gave.
struct RunReport {
  std::string workload;
  std::string schedule;
  std::string device;
  std::vector<RankResult> ranks;
};

/// JSON: `losses` holds a value a step with all its bits, `tables` a digest of all parameters at the end, `ranks` the
/// memory peaks of each rank, `validations` what each validate_output read.
void write_json(std::ostream& out, const RunReport& report);
void write_table(std::ostream& out, const RunReport& report);

}  // namespace interlace::engine
