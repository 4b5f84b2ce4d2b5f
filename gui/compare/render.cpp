#include "gui/compare/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "gui/compare/alignment.hpp"
#include "gui/compare/comparison.hpp"
#include "gui/compare/facts.hpp"
#include "gui/compare/legend.hpp"
#include "gui/timeline/explanations.hpp"
#include "simulator/report/text.hpp"

namespace interlace::gui {

namespace {

constexpr double kSmallestRows = 0.55;  ///< of their usual heights; lower ones cannot be told apart

QString title_of(const Recorded& recorded) {
  QString title = QStringLiteral("Interlace");
  for (const std::string& file : recorded.facts.files) {
    title += QStringLiteral("  ·  ") + QString::fromStdString(file.substr(file.find_last_of('/') + 1));
  }
  return title;
}

std::size_t most_steps(const std::vector<RunPtr>& runs) {
  std::size_t most = 0;
  for (const RunPtr& run : runs) most = std::max(most, run->first_steps().size());
  return most;
}

/// The offset (step_at) of the step at time 0, from which batches are counted as well: the middle one; where several
/// are shown, the first.
std::ptrdiff_t offset_at_zero(const Run& run, std::size_t steps) {
  if (steps <= 1) return 0;
  return -static_cast<std::ptrdiff_t>(middle_step(run.first_steps()).value_or(0));
}

/// As much of the axis as `steps` steps take, with a little around; of one step, as the aligned ones do.
Interval shown_span(const std::vector<RunPtr>& runs, std::size_t steps) {
  std::vector<Interval> parts;
  Nanoseconds trace = 0;
  for (const RunPtr& run : runs) {
    trace = std::max(trace, run->trace().length());
    const std::vector<Interval>& of_run = run->first_steps();
    if (of_run.empty()) continue;
    parts.push_back(steps > 1 ? Interval{of_run.front().begin, of_run[std::min(steps, of_run.size()) - 1].end}
                              : *step_at(of_run, 0));
  }
  return first_view(parts, trace);
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
  make_legend(options);
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (options.steps > 1) break;  // what is compared is one step
    const Comparison comparison(*parts_[0].run, *parts_[i].run, 0);
    if (comparison.known()) picture_.panes[i].leads = comparison.leads();
  }
  if (options.memory) add_memory();
  fit_rows(options);

  std::vector<RunPtr> runs;
  for (const Part& part : parts_) runs.push_back(part.run);
  if (const std::size_t most = most_steps(runs); most < options.steps && options.steps > 1) {
    remarks_.push_back(most == 0
                           ? "no steps are told apart: all is shown"
                           : fmt::format("{} step{} shown: there are no more", most, most == 1 ? " is" : "s are"));
  }
  for (const ForecastPtr& forecast : forecasts_) {
    const std::vector<std::string>& hazards = forecast->row.hazards;
    if (hazards.empty()) continue;
    remarks_.push_back(fmt::format("{} has {}, whatever its time: interlace check tells more", forecast->schedule.name,
                                   report::counted(std::ssize(hazards), "hazard")));
  }
  const Interval span = shown_span(runs, options.steps);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    PicturePane& pane = picture_.panes[i];
    pane.content.scene = &part.run->scene();
    pane.content.colouring = &part.colouring;
    pane.content.placement = &part.placement;
    pane.content.title =
        i == 0 ? QStringLiteral("Measured") : QStringLiteral("Predicted  ") + QString::fromStdString(part.run->title());
    pane.content.alarm = QString::fromStdString(i == 0 ? losses_of(*recorded_) : hazards_of(*forecasts_[i - 1]));
    pane.content.facts = QString::fromStdString(i == 0 ? facts_of(*recorded_) : facts_of(*forecasts_[i - 1]));
    pane.content.view = fitted(span, options.width - kLabelWidth, 0);
    pane.content.anchor = anchor_at_step(part.run->first_steps(), offset_at_zero(*part.run, options.steps));
    pane.content.steps = part.run->first_steps();
    if (pane.memory) {
      pane.memory->view = pane.content.view;
      pane.memory->anchor = pane.content.anchor;
    }
  }
  add_explanations(options);
}

void RenderedComparison::add_memory() {
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
}

void RenderedComparison::make_legend(const RenderOptions& options) {
  std::vector<const Colouring*> colourings;
  for (const Part& part : parts_) colourings.push_back(&part.colouring);
  if (options.idle) picture_.legend = idle_legend(theme(options.theme));
  std::ranges::move(legend_of(colourings), std::back_inserter(picture_.legend));
}

void RenderedComparison::add(RunPtr run, const RenderOptions& options) {
  Part part;
  const Scene& scene = run->scene();
  part.colouring = colour_run(*run, options.colour_by, offset_at_zero(*run, options.steps));
  part.choice = LaneChoice::compact(scene.lanes(), run->trace().ranks().size());
  part.run = std::move(run);
  parts_.push_back(std::move(part));
}

void RenderedComparison::fit_strips(double height) {
  const double room = (height - picture_.head_height()) / static_cast<double>(parts_.size());
  for (PicturePane& pane : picture_.panes) {
    if (pane.leads) pane.leads_height = difference_height(room);
    if (pane.memory) pane.memory_height = memory_height(room);
  }
}

double RenderedComparison::beside_rows() const {
  double height = picture_.head_height();
  for (const PicturePane& pane : picture_.panes) height += kAbovePlot + pane.leads_height + pane.memory_height;
  return height;
}

double RenderedComparison::enough_for(double rows) {
  // Strips grow with the picture, by less than it does.
  constexpr int kRounds = 20;
  double height = rows;
  for (int round = 0; round < kRounds; ++round) {
    fit_strips(height);
    height = beside_rows() + rows;
  }
  return std::ceil(height);
}

void RenderedComparison::fit_rows(const RenderOptions& options) {
  constexpr double kLargest = 1.5;
  const auto total = [&](double factor) {
    double sum = 0;
    for (Part& part : parts_) {
      part.placement = place(part.run->trace(), part.run->scene().lanes(), part.choice, RowHeights().scaled(factor));
      sum += part.placement.height;
    }
    return sum;
  };
  const auto panes = static_cast<double>(parts_.size());
  fit_strips(options.height);
  const double room = options.height - beside_rows();
  const double used = total(std::clamp(room / total(1), kSmallestRows, kLargest));
  if (used > room + 1) return cut_rows(options, room, used);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    picture_.panes[i].height = parts_[i].placement.height + kAbovePlot + (room - used) / panes;
  }
}

void RenderedComparison::cut_rows(const RenderOptions& options, double room, double needed) {
  constexpr double kLeast = 20;
  const double at_least = kLeast * static_cast<double>(parts_.size());
  if (room < at_least) {
    throw Error(
        kSizeTooSmall, fmt::format("--size {:.0f}x{:.0f}", options.width, options.height),
        fmt::format("{} timelines have no room", parts_.size()),
        fmt::format("take --size {:.0f}x{:.0f} or more, or fewer schedules", options.width, enough_for(at_least)));
  }
  std::size_t cut = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const std::size_t rows = part.placement.rows.size();
    const double height = kLeast + (room - at_least) * part.placement.height / needed;
    part.placement = place_within(part.run->trace(), part.run->scene().lanes(), part.choice,
                                  RowHeights().scaled(kSmallestRows), height - kRowsCutHeight);
    picture_.panes[i].height = kAbovePlot + height;
    picture_.panes[i].content.rows_cut = rows - part.placement.rows.size();
    cut += picture_.panes[i].content.rows_cut;
  }
  remarks_.push_back(fmt::format("{} row{} not fit: --size {:.0f}x{:.0f} shows all", cut, cut == 1 ? " does" : "s do",
                                 options.width, enough_for(needed)));
  fit_strips(options.height);
}

}  // namespace interlace::gui
