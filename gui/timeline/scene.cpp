#include "gui/timeline/scene.hpp"

#include <utility>

namespace interlace::gui {

Scene::Scene(const trace::Trace& trace, Tags tags) : trace_(&trace), tags_(std::move(tags)), lanes_(lay_out(trace)) {
  pyramids_.reserve(lanes_.rows.size());
  for (const Row& row : lanes_.rows) pyramids_.emplace_back(row);
}

}  // namespace interlace::gui
