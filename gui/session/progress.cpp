#include "gui/session/progress.hpp"

namespace interlace::gui {

void Progress::begin(const std::string& phase) const {
  if (stop.stop_requested()) throw Cancelled();
  if (tell) tell(phase);
}

}  // namespace interlace::gui
