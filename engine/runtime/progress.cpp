#include "engine/runtime/progress.hpp"

#include <exception>

namespace interlace::engine {

void Progress::entered(const std::string& range) {
  const std::lock_guard lock(mutex_);
  ranges_.push_back(range);
  ++steps_;
}

void Progress::left() noexcept {
  const std::lock_guard lock(mutex_);
  // A host that an exception ends keeps the names, so that the failure can say where.
  if (std::uncaught_exceptions() == 0) ranges_.pop_back();
}

std::string Progress::place() const {
  const std::lock_guard lock(mutex_);
  std::string joined;
  for (const std::string& range : ranges_) joined += (joined.empty() ? "" : ", ") + range;
  return joined;
}

std::uint64_t Progress::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

}  // namespace interlace::engine
