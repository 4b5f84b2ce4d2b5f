#include "simulator/trace/correlation_index.hpp"

#include <algorithm>

namespace interlace::trace {

CorrelationIndex::CorrelationIndex(const std::vector<std::optional<std::int64_t>>& correlations) {
  for (const auto& correlation : correlations) {
    if (correlation) expect(*correlation);
  }
  for (std::uint32_t row = 0; row < correlations.size(); ++row) {
    if (correlations[row]) add(*correlations[row], row);
  }
}

void CorrelationIndex::expect(std::int64_t correlation) {
  first_ = expected_ == 0 ? correlation : std::min(first_, correlation);
  last_ = expected_ == 0 ? correlation : std::max(last_, correlation);
  ++expected_;
}

std::optional<std::uint32_t> CorrelationIndex::add(std::int64_t correlation, std::uint32_t row) {
  if (!is_dense()) {
    const auto [known, is_new] = scattered_.try_emplace(correlation, row);
    return is_new ? std::nullopt : std::optional(known->second);
  }
  if (table_.empty()) table_.resize(offset(last_) + 1);
  std::uint32_t& known = table_[offset(correlation)];
  if (known != 0) return known - 1;
  known = row + 1;
  return std::nullopt;
}

std::optional<std::uint32_t> CorrelationIndex::find(std::int64_t correlation) const {
  if (!is_dense()) {
    const auto known = scattered_.find(correlation);
    return known == scattered_.end() ? std::nullopt : std::optional(known->second);
  }
  const bool is_inside = correlation >= first_ && offset(correlation) < table_.size();
  const std::uint32_t known = is_inside ? table_[offset(correlation)] : 0;
  return known == 0 ? std::nullopt : std::optional(known - 1);
}

}  // namespace interlace::trace
