#include "simulator/cli/compared_schedules.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "simulator/cli/errors.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/replay/predicted_trace.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"

namespace interlace::cli {

namespace {

std::optional<std::string> stated_schedule(const trace::Trace& trace) {
  if (auto predicted = replay::predicted_for(trace)) return std::move(predicted->schedule);
  const auto named = replay::named_schedule(trace);
  return named ? std::optional(std::string(*named)) : std::nullopt;
}

/// The built-in schedule that a recording looks to be made under. Where `stated` names a built-in one, only if it is
/// more like that: one made under a user's own schedule may look like any. A recording that cannot be replayed looks
/// like nothing.
std::optional<std::string> looks_like(const trace::Trace& trace, const std::optional<std::string>& profile,
                                      std::optional<std::string_view> stated = {}) {
  if (stated && !schedule::is_built_in(*stated)) return std::nullopt;
  try {
    Diagnostics told_elsewhere;
    const stages::Cut cut = stages::cut(trace, profile_for(profile, trace), told_elsewhere);
    const replay::SiteTable sites = replay::find_sites(trace, cut, told_elsewhere);
    const std::vector<schedule::Schedule> library = schedule::all_sound();
    const schedule::Schedule* known = replay::recognise(library, trace, cut, sites);
    if (known == nullptr) return std::nullopt;
    if (!stated) return known->name;
    const auto as_known = replay::likeness(*known, trace, cut, sites);
    const auto as_stated = replay::likeness(schedule::find(*stated), trace, cut, sites);
    const bool as_like = as_known && as_stated && as_stated->score() >= as_known->score();
    return as_like ? std::nullopt : std::optional(known->name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void count_differing_schedules(ingest::Recording& measured, ingest::Recording& predicted,
                               const std::optional<std::string>& profile) {
  const bool measured_is_predicted = replay::predicted_for(measured.trace).has_value();
  if (measured_is_predicted) {
    measured.diagnostics.count(kMeasuredIsPredicted, measured.trace.ranks().front().source);
  }
  const auto prediction = replay::predicted_for(predicted.trace);
  if (prediction && !prediction->under_recorder && !measured_is_predicted) {
    predicted.diagnostics.count(kWithoutRecorder, predicted.trace.ranks().front().source);
  }
  std::optional<std::string> first = stated_schedule(measured.trace);
  std::optional<std::string> second = stated_schedule(predicted.trace);
  if (!first && !second) first = looks_like(measured.trace, profile);
  if (!first && second) first = looks_like(measured.trace, profile, *second);
  if (!second && first) second = looks_like(predicted.trace, profile, *first);
  if (!first || !second || *first == *second) return;
  predicted.diagnostics.add({.code = std::string(kOtherSchedule.code),
                             .severity = kOtherSchedule.severity,
                             .meaning = fmt::format("{}: {}, not {}", kOtherSchedule.meaning, *second, *first),
                             .advice = std::string(kOtherSchedule.advice),
                             .count = 1,
                             .first_place = std::filesystem::path(predicted.trace.ranks().front().source).filename()});
}

}  // namespace interlace::cli
