#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gui/timeline/viewport.hpp"

namespace interlace::gui {

enum class Side : std::uint8_t { kMeasured, kPredicted };
inline constexpr std::size_t kSides = 2;
[[nodiscard]] constexpr Side other(Side side) { return side == Side::kMeasured ? Side::kPredicted : Side::kMeasured; }

/// What the two panes look at. Each has an anchor, an instant of its trace that is time 0 of its axis; so panes that
/// are linked have one viewport and yet show traces that begin at different times. A value.
class Views {
 public:
  /// The axis of a side, with time 0 at its anchor.
  [[nodiscard]] const Viewport& view(Side side) const { return views_[index(side)]; }
  [[nodiscard]] Nanoseconds anchor(Side side) const { return anchors_[index(side)]; }
  [[nodiscard]] bool linked() const { return linked_; }
  /// A span of a trace's own time on the axis of its side.
  [[nodiscard]] Interval on_axis(Side side, Interval in_trace) const;

  /// Moves one side, and the other with it while they are linked: to the same begin and scale.
  void look(Side side, const Viewport& view);
  /// The anchor of one side moves; what is shown of the axis stays.
  void set_anchor(Side side, Nanoseconds anchor) { anchors_[index(side)] = anchor; }
  /// Linking brings the other side to where `leader` is.
  void link(bool linked, Side leader);
  void set_width(Side side, double pixels);

  bool operator==(const Views&) const = default;

 private:
  void follow(Side side, const Viewport& leader);
  [[nodiscard]] static std::size_t index(Side side) { return static_cast<std::size_t>(side); }

  std::array<Viewport, kSides> views_;
  std::array<Nanoseconds, kSides> anchors_{};
  bool linked_ = true;
};

/// Earlier views, to go back to. Moves that follow one another closely, as those of a wheel, count as one.
class ViewHistory {
 public:
  /// `before`: what was shown before a move; `at_ms`: when, on any clock that does not go back.
  void moved(const Views& before, std::int64_t at_ms);
  /// Going back makes the present view one to come forward to.
  [[nodiscard]] bool can_go_back() const { return !back_.empty(); }
  [[nodiscard]] bool can_go_forward() const { return !forward_.empty(); }
  /// REQUIRES: can_go_back().
  [[nodiscard]] Views back(const Views& present);
  /// REQUIRES: can_go_forward().
  [[nodiscard]] Views forward(const Views& present);
  void clear();

 private:
  static constexpr std::int64_t kOneMoveMs = 600;
  static constexpr std::size_t kMost = 200;

  std::vector<Views> back_;
  std::vector<Views> forward_;
  std::int64_t last_ms_ = -kOneMoveMs;
};

}  // namespace interlace::gui
