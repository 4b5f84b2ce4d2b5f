#pragma once

#include <string>
#include <vector>

#include "gui/compare/picture.hpp"
#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kSizeTooSmall{"gui.size_too_small"};

struct RenderOptions {
  double width = 1920;
  double height = 1080;
  ColourBy colour_by = ColourBy::kStage;
  ThemeKind theme = ThemeKind::kLight;
  std::size_t steps = 1;  ///< how many to show; where there are not so many, all
  bool memory = true;     ///< curves of the first rank below each timeline, where memory was recorded
  bool critical_path = false;
  bool idle = false;  ///< why devices do nothing
};

/// The measured timeline and below it the predicted ones, aligned by step, with rows as high as the room allows. Keeps
/// what the picture refers to.
class RenderedComparison {
 public:
  /// Throws gui.size_too_small.
  RenderedComparison(RecordedPtr recorded, std::vector<ForecastPtr> forecasts, const RenderOptions& options);

  [[nodiscard]] const Picture& picture() const { return picture_; }
  /// What is to be known of the picture, a line each: steps that are not there, rows that do not fit, schedules that
  /// race.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Part {
    RunPtr run;
    Colouring colouring;
    LaneChoice choice;
    Placement placement;
  };
  void add(RunPtr run, const RenderOptions& options);
  /// Differences and memory, in a picture of this height.
  void fit_strips(double height);
  /// What the picture needs for all but rows.
  [[nodiscard]] double beside_rows() const;
  /// The height of a picture in which rows of this height have room; leaves the strips as high as they are in it.
  [[nodiscard]] double enough_for(double rows);
  void add_memory();
  void add_explanations(const RenderOptions& options);
  void make_legend(const RenderOptions& options);
  /// The largest rows with which all panes fit into the height.
  void fit_rows(const RenderOptions& options);
  /// Where the smallest rows do not fit either: shares the height by need, and leaves out what is too much, rows of
  /// host threads first.
  void cut_rows(const RenderOptions& options, double room, double needed);

  RecordedPtr recorded_;
  std::vector<ForecastPtr> forecasts_;
  std::vector<Part> parts_;
  Picture picture_;
  std::vector<std::string> remarks_;
};

}  // namespace interlace::gui
