#include "gui/timeline/pyramid.hpp"

#include <algorithm>

namespace interlace::gui {

namespace {

Pyramid::Node leaf(const Row& row, std::uint32_t position) {
  const Interval& span = row.spans[position];
  const auto length = static_cast<float>(span.length());
  return {span.begin, span.end, position, length, length};
}

}  // namespace

Pyramid::Pyramid(const Row& row) {
  const auto absorb = [&](Node& node, const Node& next) {
    node.end = std::max(node.end, next.end);
    node.busy_ns += next.busy_ns;
    if (next.longest_ns <= node.longest_ns) return;
    node.longest = next.longest;
    node.longest_ns = next.longest_ns;
  };
  const auto fold = [&](std::size_t count, const auto& node_at) {
    std::vector<Node> nodes;
    nodes.reserve((count + kFanOut - 1) / kFanOut);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kFanOut == 0) {
        nodes.push_back(node_at(i));
      } else {
        absorb(nodes.back(), node_at(i));
      }
    }
    return nodes;
  };
  std::size_t count = row.operations.size();
  if (count < 2) return;
  levels_.push_back(fold(count, [&](std::size_t i) { return leaf(row, static_cast<std::uint32_t>(i)); }));
  while (levels_.back().size() > 1) {
    const std::vector<Node>& below = levels_.back();
    std::vector<Node> above = fold(below.size(), [&](std::size_t i) { return below[i]; });
    levels_.push_back(std::move(above));
  }
}

}  // namespace interlace::gui
