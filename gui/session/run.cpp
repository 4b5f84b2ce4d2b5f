#include "gui/session/run.hpp"

#include <algorithm>
#include <utility>

#include "simulator/graph/graph.hpp"
#include "simulator/graph/waits.hpp"

namespace interlace::gui {

namespace {

/// Beyond this, arrows show launches only: the graph takes about 100 bytes an operation.
constexpr std::size_t kMostForGraph = 3'000'000;

}  // namespace

Run::Run(std::string title, trace::Trace trace, Tags tags, std::vector<std::vector<Interval>> steps,
         const graph::ProcessGroups& groups, Diagnostics& diagnostics)
    : title_(std::move(title)),
      trace_(std::move(trace)),
      scene_(trace_, std::move(tags)),
      steps_(std::move(steps)),
      memory_(analysis::memory_curves(trace_)) {
  if (trace_.size() <= kMostForGraph) {
    graph_ = std::make_unique<graph::Graph>(trace_, groups, diagnostics);
  } else {
    static_cast<void>(graph::infer_waits(trace_, diagnostics));
  }
}

Run::~Run() = default;

void Run::explain() const {
  std::call_once(explain_once_, [this] {
    if (graph_) critical_ = graph::critical_paths(*graph_, first_steps());
    std::vector<analysis::StepWindow> windows = analysis::whole_trace(trace_);
    for (std::size_t rank = 0; rank < std::min(windows.size(), steps_.size()); ++rank) {
      if (!steps_[rank].empty()) windows[rank] = analysis::window_of(steps_[rank]);
    }
    idle_ = analysis::idle_pieces(trace_, analysis::Annotations(trace_), windows);
    explained_ = true;
  });
}

std::span<const graph::CriticalPath> Run::critical_paths() const {
  if (!explained()) return {};
  return critical_;
}

std::span<const std::vector<analysis::IdlePiece>> Run::idle() const {
  if (!explained()) return {};
  return idle_;
}

const std::vector<Interval>& Run::first_steps() const {
  static const std::vector<Interval> none;
  return steps_.empty() ? none : steps_.front();
}

}  // namespace interlace::gui
