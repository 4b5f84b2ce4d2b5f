#include "simulator/cli/staging.hpp"

#include "simulator/stages/cut.hpp"

namespace interlace::cli {

stages::Profile profile_for(const std::optional<std::string>& named, const trace::Trace& trace) {
  return named ? stages::load_profile(*named) : stages::profile_of(trace);
}

trace_check::StagedWork staged(ingest::Recording& recording, const std::optional<std::string>& profile) {
  if (!profile && trace_check::names_its_stages(recording.trace)) return trace_check::staged_by_names(recording.trace);
  const stages::Cut cut = stages::cut(recording.trace, profile_for(profile, recording.trace), recording.diagnostics);
  return trace_check::staged_by(recording.trace, cut, schedule::Schedule{});
}

}  // namespace interlace::cli
