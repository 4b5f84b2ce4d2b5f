#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/check/findings.hpp"

namespace interlace::check {

/// A changed schedule, and what was changed.
struct Candidate {
  schedule::Schedule schedule;
  std::string text;
  bool adds_waits = true;  ///< operations are the same as before, only ordered more
};

/// Single changes that may mend a finding: a wait of the later side's stream for each other stream, or for an event
/// behind the earlier side; record_stream on what made the memory; an orderly read of a copy. All are well-formed.
[[nodiscard]] std::vector<Candidate> candidates(const Examined& examined, const Finding& finding);

struct Repairs {
  std::vector<Hazard> hazards;                 ///< those that the schedule says it has are left out, and as they are
  std::optional<schedule::Schedule> repaired;  ///< free of hazards; none where some hazard has no fix
};

/// Takes the findings one by one as the pipeline meets them and looks for the smallest change that mends each without
/// new ones: that which mends most findings, then that which orders least, then the plainest. Findings that go with it
/// are told with it. Every fix was applied and the schedule examined again.
[[nodiscard]] Repairs find_repairs(const Examined& examined);

}  // namespace interlace::check
