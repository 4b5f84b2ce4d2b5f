#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/cli/console.hpp"
#include "simulator/trace_check/trace_check.hpp"

namespace interlace::cli {

struct CheckTraceRequest {
  std::vector<std::string> recordings;
  std::vector<std::string> memory_snapshots;
  std::optional<std::string> schedule;  ///< that they were recorded under; none: found out
  std::optional<std::string> profile;   ///< annotations of another code base
  bool feature_processors = false;
};

/// What was found in a recording, and where the user named its schedule, what it looks like instead.
struct CheckedRecording {
  trace_check::TraceCheck found;
  std::optional<std::string> looks_like;
  std::vector<Diagnostic> diagnostics;  ///< flaws of the recording, the gravest first

  /// Something that happened is not in the recording: what it would have shown is not judged.
  [[nodiscard]] bool lost_data() const;
};

/// Checks what really ran. Throws Error(trace_check.nothing_to_check) where no access is known,
/// Error(cli.does_not_apply) where a schedule is named that nothing hangs on, and as reading and cutting do.
[[nodiscard]] CheckedRecording check_recording(const CheckTraceRequest& request, Console& console);

}  // namespace interlace::cli
