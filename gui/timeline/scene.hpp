#pragma once

#include <memory>
#include <vector>

#include "gui/timeline/colouring.hpp"
#include "gui/timeline/lanes.hpp"
#include "gui/timeline/pyramid.hpp"
#include "gui/timeline/tags.hpp"

namespace interlace::gui {

/// All of a trace that drawing needs, worked out once. Immutable. The trace must outlive it.
class Scene {
 public:
  Scene(const trace::Trace& trace, Tags tags);

  [[nodiscard]] const trace::Trace& trace() const { return *trace_; }
  [[nodiscard]] const Lanes& lanes() const { return lanes_; }
  [[nodiscard]] const Row& row(RowIndex row) const { return lanes_.rows[row]; }
  [[nodiscard]] const Pyramid& pyramid(RowIndex row) const { return pyramids_[row]; }
  [[nodiscard]] const Tags& tags() const { return tags_; }

 private:
  const trace::Trace* trace_;
  Tags tags_;
  Lanes lanes_;
  std::vector<Pyramid> pyramids_;
};

}  // namespace interlace::gui
