#pragma once

#include <optional>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/replay/observation.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Looks for kernels that take some steps a multiple of what they mostly do, with nothing beside them that could be
/// why: their input differs that much. Predictions know but one time for each.
class ChangingKernels {
 public:
  explicit ChangingKernels(const trace::Trace& trace) : trace_(&trace), ranks_(trace.ranks().size()) {}

  /// `observations`: of the site's instances, in their order.
  void see(const Site& site, const std::vector<Observation>& observations);

  /// Counts replay.changing_kernels for each rank on which it comes to more than a small part of the kernels' time.
  void count(Diagnostics& diagnostics) const;

 private:
  struct Instance {
    trace::OperationId op;
    double took_ns = 0;
    double usual_ns = 0;
  };
  struct OfRank {
    double all_ns = 0;     ///< what its kernels took
    double beyond_ns = 0;  ///< of that, what those that changed took beyond what they mostly do
    std::int64_t changed = 0;
    std::optional<Instance> most;
  };

  const trace::Trace* trace_;
  std::vector<OfRank> ranks_;
};

inline constexpr DiagnosticKind kChangingKernels{
    "replay.changing_kernels", Severity::kWarning,
    "kernels that took more than twice as long as in most steps though nothing ran beside them, in all more than 1 % "
    "of a rank's kernel time; predictions take what they mostly do",
    "record steps whose batches are alike; where they were, another stream may have overwritten what the kernels read: "
    "interlace check tells, of a recording with allocator events"};

}  // namespace interlace::replay
