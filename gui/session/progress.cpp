#include "gui/session/progress.hpp"

namespace interlace::gui {

void Progress::go_on() const {
  if (stop.stop_requested()) throw Cancelled();
}

void Progress::begin(const std::string& phase) const {
  go_on();
  if (tell) tell(phase);
}

}  // namespace interlace::gui
