#include "simulator/report/predict_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "simulator/report/text.hpp"

namespace interlace::report {

std::string replayed(const RecordedRun& recorded) {
  constexpr double kShown = 0.0005;
  std::string text = "replayed";
  if (std::abs(recorded.replay_error.value_or(0)) >= kShown) {
    text += fmt::format(", corrected for being {:.1f} % too {}", std::abs(*recorded.replay_error) * 100,
                        *recorded.replay_error < 0 ? "fast" : "slow");
  }
  const auto hidden = recorded.overlap ? recorded.overlap->communication_hidden_ratio() : std::nullopt;
  if (const auto corrected = hidden_correction(hidden, recorded.replayed_hidden_ratio)) text += "; " + *corrected;
  return text;
}

std::optional<std::string> hidden_correction(std::optional<double> recorded, std::optional<double> replayed) {
  if (!recorded || !replayed) return std::nullopt;
  // Nearer to none or all nothing is corrected (cli/overlap_anchor.cpp).
  const auto percents = [](double part) { return std::clamp(std::lround(part * 100), 1L, 99L); };
  if (percents(*recorded) == percents(*replayed)) return std::nullopt;
  return fmt::format("hidden communication corrected: {} % recorded, {} replayed so", percents(*recorded),
                     percents(*replayed));
}

namespace {

bool is_worth_telling(const RecordedRun& recorded, Nanoseconds cost) {
  return recorded.step_time_ns &&
         static_cast<double>(cost) >= kWorthTelling * static_cast<double>(*recorded.step_time_ns);
}

}  // namespace

std::optional<std::string> uneven_parts(const RecordedRun& recorded) {
  if (!is_worth_telling(recorded, recorded.uneven_parts_ns)) return std::nullopt;
  return fmt::format(
      "exchanges of ids and weights take {} ms a step more than they need, hidden or not: NCCL moves sixteen bytes at "
      "once only where the part for each rank begins at a multiple of that, so give a batch a multiple of four ids of "
      "each feature",
      milliseconds(recorded.uneven_parts_ns));
}

std::optional<std::string> late_starts(const RecordedRun& recorded) {
  std::string streams;
  Nanoseconds late = 0;
  for (const LateStarts& one : recorded.late_starts) {
    if (!is_worth_telling(recorded, one.late_ns)) continue;
    streams += (streams.empty() ? "" : ", ") + one.stream;
    late += one.late_ns;
  }
  if (streams.empty()) return std::nullopt;
  return fmt::format(
      "works of the main stream and of {} start {} ms late a step, as the GPU fetches their commands through one "
      "queue; where another stream runs a kernel for the first time just before that one does, they do not",
      streams, milliseconds(late));
}

std::optional<bool> fits(const Prediction& row) {
  if (row.memory.empty()) return std::nullopt;
  return std::ranges::none_of(row.memory, [](const RankMemory& rank) { return rank.failure.has_value(); });
}

std::vector<std::size_t> by_step_time(const PredictReport& report) {
  std::vector<std::size_t> order(report.predictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return report.predictions[i].step_time_ns; });
  return order;
}

std::vector<SkippedGroup> skipped_by_reason(std::span<const SkippedSchedule> all) {
  std::vector<SkippedGroup> groups;
  for (const SkippedSchedule& skipped : all) {
    const auto known = std::ranges::find(groups, skipped.why, &SkippedGroup::why);
    if (known == groups.end()) {
      groups.push_back({skipped.schedule, skipped.why});
    } else {
      known->schedules += ", " + skipped.schedule;
    }
  }
  return groups;
}

std::vector<std::string> hazard_lines(const Prediction& row) {
  std::vector<std::string> lines = row.hazards;
  for (const std::string& hazard : row.known_hazards) lines.push_back("known hazard: " + hazard);
  return lines;
}

bool may_be_taken(const Prediction& row) {
  constexpr std::int64_t kSteps = 10;  // in which the device may be synchronised once: the time of steps leaves it out
  const auto is_held_up = [](const RankMemory& memory) { return memory.retries * kSteps > memory.played_steps; };
  return row.hazards.empty() && fits(row).value_or(true) && std::ranges::none_of(row.memory, is_held_up);
}

bool is_among_fastest(std::span<const Prediction> predictions, std::size_t which) {
  const Prediction& asked = predictions[which];
  if (!may_be_taken(asked)) return false;
  Nanoseconds fastest = asked.step_time_ns;
  for (const Prediction& row : predictions) {
    if (may_be_taken(row)) fastest = std::min(fastest, row.step_time_ns);
  }
  return static_cast<double>(asked.step_time_ns) <= static_cast<double>(fastest) * (1 + kToldApart);
}

bool is_best(std::span<const Prediction> predictions, std::size_t which) {
  const std::optional<double> speedup = predictions[which].speedup;
  const bool gains = !speedup || *speedup > 1 + kToldApart;
  return predictions.size() > 1 && gains && is_among_fastest(predictions, which);
}

}  // namespace interlace::report
