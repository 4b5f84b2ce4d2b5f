#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace interlace::ingest::kineto {

/// From correlation ids to row numbers. The ids of one file are mostly dense, so a plain table serves; scattered ones
/// go into a hash table.
class CorrelationIndex {
 public:
  /// correlations: by row; rows without one are never found. Of rows with the same id the first is found.
  explicit CorrelationIndex(const std::vector<std::optional<std::int64_t>>& correlations);

  [[nodiscard]] std::optional<std::uint32_t> find(std::int64_t correlation) const;

 private:
  std::int64_t lowest_ = 0;
  std::vector<std::uint32_t> table_;  ///< row + 1; 0: none
  std::unordered_map<std::int64_t, std::uint32_t> scattered_;
};

}  // namespace interlace::ingest::kineto
