#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/what_if/edit.hpp"

namespace interlace::what_if {

inline constexpr ErrorCode kUnclearSweep{"what_if.unclear_sweep"};
inline constexpr ErrorCode kBadSweep{"what_if.bad_sweep"};

/// What the number of a swept edit counts.
enum class SweptUnit : std::uint8_t {
  kTimes,         ///< of what was recorded: `by` of a scale
  kMicroseconds,  ///< `takes_us` of a given stage
};

/// Edits of which one is made with one number after the other in place of its own.
class Sweep {
 public:
  /// Varies the edit that is marked, or else the only one that has a number. Throws Error(what_if.unclear_sweep) where
  /// that is none or several.
  explicit Sweep(std::vector<Edit> edits);

  /// All edits, the swept one with this number.
  [[nodiscard]] std::vector<Edit> at(double value) const;
  [[nodiscard]] const Edit& swept() const { return edits_[which_]; }
  /// Those that are made at all values alike.
  [[nodiscard]] std::vector<Edit> others() const;
  [[nodiscard]] SweptUnit unit() const;
  /// The number with which nothing is changed, 1 time; of a given stage, which nothing is recorded of, the file's own.
  [[nodiscard]] double usual() const;

 private:
  std::vector<Edit> edits_;
  std::size_t which_;
};

/// The numbers of a list like "0.25,0.5,1" or "0.25:4:5", from its first to its last in so many equal ratios, or of
/// microseconds equal steps, those between the ends to four digits. Ascending, each once. Throws
/// Error(what_if.bad_sweep).
[[nodiscard]] std::vector<double> sweep_values(std::string_view list, SweptUnit unit);

}  // namespace interlace::what_if
