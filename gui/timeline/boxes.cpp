#include "gui/timeline/boxes.hpp"

#include <algorithm>
#include <cmath>

namespace interlace::gui {

namespace {

/// Walks down the pyramid wherever a node is wider than a pixel, and joins what is narrower.
class Folder {
 public:
  Folder(const Row& row, const Pyramid& pyramid, const Viewport& view, std::span<const ColourClass> colours,
         std::vector<Box>& boxes)
      : row_(row),
        pyramid_(pyramid),
        colours_(colours),
        boxes_(boxes),
        begin_ns_(view.begin_ns),
        end_ns_(view.end_ns()),
        ns_per_px_(view.ns_per_px),
        px_per_ns_(1 / view.ns_per_px) {}

  void run() {
    if (row_.operations.empty()) return;
    if (pyramid_.levels() == 0) {
      visit_operation(0);
    } else {
      visit_node(pyramid_.levels() - 1, 0);
    }
    flush();
  }

 private:
  [[nodiscard]] bool outside(double begin, double end) const { return end < begin_ns_ || begin > end_ns_; }
  [[nodiscard]] double x_of(double ns) const { return (ns - begin_ns_) * px_per_ns_; }

  void visit_node(std::size_t level, std::size_t index) {
    const Pyramid::Node& node = pyramid_.level(level)[index];
    const auto begin = static_cast<double>(node.begin);
    const auto end = static_cast<double>(node.end);
    if (outside(begin, end)) return;
    if (end - begin < ns_per_px_) {
      fold(begin, end, node.longest, node.longest_ns, node.busy_ns);
      return;
    }
    const std::size_t first = index * Pyramid::kFanOut;
    const std::size_t below = level == 0 ? row_.operations.size() : pyramid_.level(level - 1).size();
    const std::size_t last = std::min(first + Pyramid::kFanOut, below);
    for (std::size_t i = first; i < last; ++i) {
      if (level == 0) {
        visit_operation(i);
      } else {
        visit_node(level - 1, i);
      }
    }
  }

  void visit_operation(std::size_t position) {
    const auto begin = static_cast<double>(row_.spans[position].begin);
    const auto end = static_cast<double>(row_.spans[position].end);
    if (outside(begin, end)) return;
    const auto at = static_cast<std::uint32_t>(position);
    if (end - begin < ns_per_px_) {
      fold(begin, end, at, end - begin, end - begin);
      return;
    }
    flush();
    boxes_.push_back({x_of(begin), x_of(end), at, colours_[at], row_.looks[at], false, 1});
  }

  /// Adds something narrower than a pixel to the pixel in which most of it lies.
  void fold(double begin, double end, std::uint32_t longest, double longest_ns, double busy_ns) {
    const double pixel = std::floor(x_of((begin + end) / 2));
    if (pixel != pixel_ || !pending_) {
      close_pixel();
      pixel_ = pixel;
      pending_ = true;
      longest_ = longest;
      longest_ns_ = longest_ns;
      busy_ns_ = 0;
    } else if (longest_ns > longest_ns_) {
      longest_ = longest;
      longest_ns_ = longest_ns;
    }
    busy_ns_ += busy_ns;
  }

  /// The pixel is full: it lengthens the run before it where they look alike.
  void close_pixel() {
    if (!pending_) return;
    pending_ = false;
    constexpr double kShades = 4;  // coverage in quarters, so that neighbours can be one box
    const double part = std::clamp(busy_ns_ * px_per_ns_, 0.0, 1.0);
    const auto coverage = static_cast<float>(std::max(1.0, std::ceil(part * kShades)) / kShades);
    const ColourClass colour = colours_[longest_];
    if (in_run_) {
      Box& run = boxes_.back();
      if (run.right == pixel_ && run.colour == colour && run.coverage == coverage) {
        run.right = pixel_ + 1;
        if (longest_ns_ > run_longest_ns_) {
          run.position = longest_;
          run.look = row_.looks[longest_];
          run_longest_ns_ = longest_ns_;
        }
        return;
      }
    }
    boxes_.push_back({pixel_, pixel_ + 1, longest_, colour, row_.looks[longest_], true, coverage});
    run_longest_ns_ = longest_ns_;
    in_run_ = true;
  }

  void flush() {
    close_pixel();
    in_run_ = false;
  }

  const Row& row_;
  const Pyramid& pyramid_;
  std::span<const ColourClass> colours_;
  std::vector<Box>& boxes_;
  double begin_ns_;
  double end_ns_;
  double ns_per_px_;
  double px_per_ns_;

  bool pending_ = false;  ///< pixel_ has something in it
  bool in_run_ = false;   ///< boxes_.back() is a folded box that may grow
  double run_longest_ns_ = 0;
  double pixel_ = 0;
  std::uint32_t longest_ = 0;
  double longest_ns_ = 0;
  double busy_ns_ = 0;
};

}  // namespace

void append_boxes(const Row& row, const Pyramid& pyramid, const Viewport& view, std::span<const ColourClass> colours,
                  std::vector<Box>& boxes) {
  Folder(row, pyramid, view, colours, boxes).run();
}

}  // namespace interlace::gui
