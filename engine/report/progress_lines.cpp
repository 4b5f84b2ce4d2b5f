#include "engine/report/progress_lines.hpp"

#include <ostream>

namespace interlace::engine {

ProgressLines::ProgressLines(std::ostream& out, std::int64_t batches, Clock::time_point now)
    : out_(&out), batches_(batches), told_(now) {}

void ProgressLines::begin(std::int64_t batch, Clock::time_point now) {
  if (now - told_ < kEvery) return;
  told_ = now;
  *out_ << "batch " << batch + 1 << " of " << batches_ << std::endl;
}

}  // namespace interlace::engine
