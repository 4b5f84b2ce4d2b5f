#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "gui/timeline/scene.hpp"
#include "simulator/analysis/idle_causes.hpp"
#include "simulator/analysis/memory_curve.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/graph/critical_path.hpp"
#include "simulator/graph/process_groups.hpp"

namespace interlace::gui {

/// One timeline, measured or predicted, with all that is worked out from it. Immutable and shared; it lives where it
/// was made, since its scene refers to its trace.
class Run {
 public:
  /// steps: by rank, the steady training steps in the trace, by time; may be empty. groups: of the trace. Counts under
  /// graph.* what else of the dependencies the trace does not tell.
  Run(std::string title, trace::Trace trace, Tags tags, std::vector<std::vector<Interval>> steps,
      const graph::ProcessGroups& groups, Diagnostics& diagnostics);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  /// "measured", or the schedule's name.
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const trace::Trace& trace() const { return trace_; }
  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const std::vector<std::vector<Interval>>& steps() const { return steps_; }
  /// What allocators held, rank by rank; empty where no allocations are in the trace.
  [[nodiscard]] const std::vector<analysis::MemoryCurve>& memory() const { return memory_; }
  /// Of the first rank.
  [[nodiscard]] const std::vector<Interval>& first_steps() const;
  [[nodiscard]] Interval extent() const { return {0, trace_.length()}; }
  /// Works out critical paths and idle causes, which most timelines are never asked for. Takes as long as it takes: not
  /// for the thread that draws. Any number of threads may call it.
  void explain() const;
  [[nodiscard]] bool explained() const { return explained_.load(); }
  /// Of each step of the first rank, as far as the graph is there. Empty until explained().
  [[nodiscard]] std::span<const graph::CriticalPath> critical_paths() const;
  /// Why devices do nothing, by rank, from the first step to the last. Empty until explained().
  [[nodiscard]] std::span<const std::vector<analysis::IdlePiece>> idle() const;
  /// None where the trace is too large for it to be worth its memory.
  [[nodiscard]] const graph::Graph* dependencies() const { return graph_.get(); }

 private:
  std::string title_;
  trace::Trace trace_;
  Scene scene_;
  std::vector<std::vector<Interval>> steps_;
  std::vector<analysis::MemoryCurve> memory_;
  std::unique_ptr<const graph::Graph> graph_;
  mutable std::once_flag explain_once_;
  mutable std::atomic<bool> explained_ = false;  ///< then the two below change no more
  mutable std::vector<graph::CriticalPath> critical_;
  mutable std::vector<std::vector<analysis::IdlePiece>> idle_;
};

using RunPtr = std::shared_ptr<const Run>;

}  // namespace interlace::gui
