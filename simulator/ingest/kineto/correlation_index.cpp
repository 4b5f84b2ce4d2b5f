#include "simulator/ingest/kineto/correlation_index.hpp"

#include <algorithm>
#include <limits>

namespace interlace::ingest::kineto {

CorrelationIndex::CorrelationIndex(const std::vector<std::optional<std::int64_t>>& correlations) {
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  lowest_ = std::numeric_limits<std::int64_t>::max();
  for (const auto& correlation : correlations) {
    if (!correlation) continue;
    lowest_ = std::min(lowest_, *correlation);
    highest = std::max(highest, *correlation);
  }
  if (highest < lowest_) return;
  const std::uint64_t span = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest_);
  const bool is_dense = span < correlations.size() * 16 + 1024;
  if (is_dense) table_.assign(span + 1, 0);
  for (std::uint32_t row = 0; row < correlations.size(); ++row) {
    if (!correlations[row]) continue;
    if (is_dense) {
      std::uint32_t& entry = table_[static_cast<std::size_t>(*correlations[row] - lowest_)];
      if (entry == 0) entry = row + 1;
    } else {
      scattered_.try_emplace(*correlations[row], row);
    }
  }
}

std::optional<std::uint32_t> CorrelationIndex::find(std::int64_t correlation) const {
  if (!scattered_.empty()) {
    const auto found = scattered_.find(correlation);
    return found == scattered_.end() ? std::nullopt : std::optional(found->second);
  }
  if (correlation < lowest_) return std::nullopt;
  const std::uint64_t offset = static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(lowest_);
  if (offset >= table_.size() || table_[offset] == 0) return std::nullopt;
  return table_[offset] - 1;
}

}  // namespace interlace::ingest::kineto
