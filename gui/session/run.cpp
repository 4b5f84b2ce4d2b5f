#include "gui/session/run.hpp"

#include <utility>

#include "simulator/graph/graph.hpp"

namespace interlace::gui {

namespace {

/// Beyond this, arrows show launches only: the graph takes about 100 bytes an operation.
constexpr std::size_t kMostForGraph = 3'000'000;

}  // namespace

Run::Run(std::string title, trace::Trace trace, Tags tags, std::vector<std::vector<Interval>> steps)
    : title_(std::move(title)),
      trace_(std::move(trace)),
      scene_(trace_, std::move(tags)),
      steps_(std::move(steps)),
      memory_(analysis::memory_curves(trace_)) {
  if (trace_.size() <= kMostForGraph) {
    Diagnostics counted;  // reading and predicting say what the recording lacks
    graph_ = std::make_unique<graph::Graph>(trace_, counted);
  }
}

Run::~Run() = default;

const std::vector<Interval>& Run::first_steps() const {
  static const std::vector<Interval> none;
  return steps_.empty() ? none : steps_.front();
}

}  // namespace interlace::gui
