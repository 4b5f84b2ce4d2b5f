#include "gui/compare/render.hpp"

#include <algorithm>
#include <utility>

#include "gui/compare/alignment.hpp"
#include "gui/compare/comparison.hpp"
#include "gui/compare/facts.hpp"
#include "gui/compare/legend.hpp"
#include "gui/timeline/explanations.hpp"

namespace interlace::gui {

namespace {

constexpr double kTitle = 30;

QString title_of(const Recorded& recorded) {
  QString title = QStringLiteral("Interlace");
  for (const std::string& file : recorded.facts.files) {
    title += QStringLiteral("  ·  ") + QString::fromStdString(file.substr(file.find_last_of('/') + 1));
  }
  return title;
}

/// As much of the axis as `steps` steps take, with a little around.
Interval shown_span(const std::vector<RunPtr>& runs, std::size_t steps) {
  Nanoseconds longest = 0;
  Nanoseconds trace = 0;
  for (const RunPtr& run : runs) {
    trace = std::max(trace, run->trace().length());
    for (const Interval& step : run->first_steps()) longest = std::max(longest, step.length());
  }
  if (longest == 0) return {0, trace};
  const Nanoseconds around = longest / 20;
  return {-around, longest * static_cast<Nanoseconds>(steps) + around};
}

}  // namespace

RenderedComparison::RenderedComparison(RecordedPtr recorded, std::vector<ForecastPtr> forecasts,
                                       const RenderOptions& options)
    : recorded_(std::move(recorded)), forecasts_(std::move(forecasts)) {
  add(recorded_->run, options);
  for (const ForecastPtr& forecast : forecasts_) add(forecast->run, options);
  picture_.title = title_of(*recorded_);
  picture_.width = options.width;
  picture_.theme = options.theme;
  picture_.panes.resize(parts_.size());
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (options.steps > 1) break;  // what is compared is one step
    const Comparison comparison(*parts_[0].run, *parts_[i].run, 0);
    if (!comparison.known()) continue;
    picture_.panes[i].leads = comparison.leads();
    picture_.panes[i].leads_height = difference_height(room_of_pane(options));
  }
  if (options.memory) add_memory(memory_height(room_of_pane(options)));
  fit_rows(options.height - kTitle - kLegendHeight - strips());

  std::vector<RunPtr> runs;
  std::vector<const Colouring*> colourings;
  for (const Part& part : parts_) {
    runs.push_back(part.run);
    colourings.push_back(&part.colouring);
  }
  picture_.legend = legend_of(colourings);
  const Interval span = shown_span(runs, options.steps);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    PicturePane& pane = picture_.panes[i];
    pane.content.scene = &part.run->scene();
    pane.content.colouring = &part.colouring;
    pane.content.placement = &part.placement;
    pane.content.title =
        i == 0 ? QStringLiteral("Measured") : QStringLiteral("Predicted  ") + QString::fromStdString(part.run->title());
    if (i == 0) pane.content.losses = QString::fromStdString(losses_of(*recorded_));
    pane.content.facts = QString::fromStdString(i == 0 ? facts_of(*recorded_) : facts_of(*forecasts_[i - 1]));
    pane.content.view = fitted(span, options.width - kLabelWidth, 0);
    // Several steps are shown from the first one on.
    const auto first = -static_cast<std::ptrdiff_t>(middle_step(part.run->first_steps()).value_or(0));
    pane.content.anchor = anchor_at_step(part.run->first_steps(), options.steps > 1 ? first : 0);
    pane.content.steps = part.run->first_steps();
    if (pane.memory) {
      pane.memory->view = pane.content.view;
      pane.memory->anchor = pane.content.anchor;
    }
  }
  add_explanations(options);
}

void RenderedComparison::add_memory(double height) {
  Bytes top = 1;
  for (const Part& part : parts_) {
    for (const analysis::MemoryCurve& curve : part.run->memory()) top = std::max(top, most_of(curve));
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Run& run = *parts_[i].run;
    if (run.memory().empty()) continue;
    picture_.panes[i].memory = MemoryPlot{.curve = &run.memory().front(),
                                          .trace = &run.trace(),
                                          .view = {},
                                          .anchor = 0,
                                          .top = top,
                                          .cursor = std::nullopt};
    picture_.panes[i].memory_height = height;
  }
}

void RenderedComparison::add_explanations(const RenderOptions& options) {
  if (!options.critical_path && !options.idle) return;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Run& run = *parts_[i].run;
    run.explain();
    if (options.critical_path) picture_.panes[i].content.critical = run.critical_paths();
    if (options.idle) picture_.panes[i].content.idle = run.idle();
  }
  if (!options.idle) return;
  std::vector<ColourEntry> legend = idle_legend(theme(options.theme));
  legend.insert(legend.end(), picture_.legend.begin(), picture_.legend.end());
  picture_.legend = std::move(legend);
}

void RenderedComparison::add(RunPtr run, const RenderOptions& options) {
  Part part;
  const Scene& scene = run->scene();
  part.colouring = colour_run(*run, options.colour_by, 0);
  part.choice = LaneChoice::compact(scene.lanes(), run->trace().ranks().size());
  part.run = std::move(run);
  parts_.push_back(std::move(part));
}

double RenderedComparison::room_of_pane(const RenderOptions& options) const {
  return (options.height - kTitle - kLegendHeight) / static_cast<double>(parts_.size());
}

double RenderedComparison::strips() const {
  double height = 0;
  for (const PicturePane& pane : picture_.panes) height += pane.leads_height + pane.memory_height;
  return height;
}

void RenderedComparison::fit_rows(double height) {
  constexpr double kLargest = 1.5;
  constexpr double kSmallest = 0.55;
  const auto total = [&](double factor) {
    double sum = 0;
    for (Part& part : parts_) {
      part.placement = place(part.run->trace(), part.run->scene().lanes(), part.choice, RowHeights().scaled(factor));
      sum += part.placement.height + kAbovePlot;
    }
    return sum;
  };
  const double rows_at_one = total(1) - static_cast<double>(parts_.size()) * kAbovePlot;
  const double room = height - static_cast<double>(parts_.size()) * kAbovePlot;
  const double used = total(std::clamp(room / rows_at_one, kSmallest, kLargest));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    // What is left over, or lacking where even the smallest rows are too high, is shared evenly.
    const double share = (height - used) / static_cast<double>(parts_.size());
    picture_.panes[i].height = std::max(kAbovePlot + 20, parts_[i].placement.height + kAbovePlot + share);
  }
}

}  // namespace interlace::gui
