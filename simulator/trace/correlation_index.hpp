#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace interlace::trace {

/// From the correlations of one recording's calls to their rows. Recorders count correlations up, so a plain table
/// serves wherever that is not mostly holes; scattered ones go into a hash table.
class CorrelationIndex {
 public:
  CorrelationIndex() = default;
  /// Of all rows, by their place; those without a correlation are never found.
  explicit CorrelationIndex(const std::vector<std::optional<std::int64_t>>& correlations);

  /// To be told of every correlation before the first is added.
  void expect(std::int64_t correlation);
  /// The row that has the correlation already; none where it was free and is this row's now. row: below 2^32 - 1.
  std::optional<std::uint32_t> add(std::int64_t correlation, std::uint32_t row);

  [[nodiscard]] std::optional<std::uint32_t> find(std::int64_t correlation) const;

 private:
  [[nodiscard]] std::uint64_t offset(std::int64_t correlation) const {
    return static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(first_);
  }
  [[nodiscard]] bool is_dense() const { return offset(last_) / 16 <= expected_; }

  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  std::uint64_t expected_ = 0;
  std::vector<std::uint32_t> table_;  ///< row + 1; 0: none
  std::unordered_map<std::int64_t, std::uint32_t> scattered_;
};

}  // namespace interlace::trace
