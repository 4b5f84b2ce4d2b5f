#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/timeline/lanes.hpp"

namespace interlace::gui {

/// A row seen from afar: nodes that each stand for up to kFanOut neighbours of the level below, the lowest level for
/// operations. Made once a row; about 5 bytes an operation.
class Pyramid {
 public:
  static constexpr std::uint32_t kFanOut = 8;

  struct Node {
    Nanoseconds begin = 0;      ///< start of the first
    Nanoseconds end = 0;        ///< end of the last
    std::uint32_t longest = 0;  ///< position in the row of the longest operation; the first of equals
    float longest_ns = 0;       ///< its duration
    float busy_ns = 0;          ///< sum of the durations
  };

  explicit Pyramid(const Row& row);

  /// 0: the nodes that fold operations. Empty for rows of one operation.
  [[nodiscard]] std::size_t levels() const { return levels_.size(); }
  [[nodiscard]] std::span<const Node> level(std::size_t level) const { return levels_[level]; }

 private:
  std::vector<std::vector<Node>> levels_;
};

}  // namespace interlace::gui
