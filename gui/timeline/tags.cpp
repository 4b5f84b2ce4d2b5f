#include "gui/timeline/tags.hpp"

#include <algorithm>

namespace interlace::gui {

std::uint8_t Tags::stage_number(std::string_view name) {
  constexpr std::size_t kMost = 255;
  auto found = std::ranges::find(stages_, name);
  if (found == stages_.end()) {
    if (stages_.size() == kMost) stages_.emplace_back("other stages");
    if (stages_.size() > kMost) return static_cast<std::uint8_t>(kMost);
    stages_.emplace_back(name);
    found = stages_.end() - 1;
  }
  return static_cast<std::uint8_t>(found - stages_.begin());
}

void Tags::set_batch(trace::OperationId op, std::int64_t batch) {
  if (batch > kNoBatch && batch <= INT16_MAX) batch_of_[op.index()] = static_cast<std::int16_t>(batch);
}

std::optional<std::int32_t> Tags::batch_of(trace::OperationId op) const {
  const std::int16_t batch = batch_of_[op.index()];
  if (batch == kNoBatch) return std::nullopt;
  return batch;
}

}  // namespace interlace::gui
