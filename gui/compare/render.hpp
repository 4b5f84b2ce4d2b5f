#pragma once

#include <vector>

#include "gui/compare/picture.hpp"
#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"

namespace interlace::gui {

struct RenderOptions {
  double width = 1920;
  double height = 1080;
  ColourBy colour_by = ColourBy::kStage;
  ThemeKind theme = ThemeKind::kLight;
  std::size_t steps = 1;  ///< how many to show
  bool memory = true;     ///< curves of the first rank below each timeline, where memory was recorded
  bool critical_path = false;
  bool idle = false;  ///< why devices do nothing
};

/// The measured timeline and below it the predicted ones, aligned by step, with rows as high as the room allows. Keeps
/// what the picture refers to.
class RenderedComparison {
 public:
  RenderedComparison(RecordedPtr recorded, std::vector<ForecastPtr> forecasts, const RenderOptions& options);

  [[nodiscard]] const Picture& picture() const { return picture_; }

 private:
  struct Part {
    RunPtr run;
    Colouring colouring;
    LaneChoice choice;
    Placement placement;
  };
  void add(RunPtr run, const RenderOptions& options);
  /// What each timeline has with all that belongs to it.
  [[nodiscard]] double room_of_pane(const RenderOptions& options) const;
  /// The height of all strips, of differences and of memory.
  [[nodiscard]] double strips() const;
  void add_memory(double height);
  void add_explanations(const RenderOptions& options);
  /// The largest rows with which all panes fit into the height.
  void fit_rows(double height);

  RecordedPtr recorded_;
  std::vector<ForecastPtr> forecasts_;
  std::vector<Part> parts_;
  Picture picture_;
};

}  // namespace interlace::gui
