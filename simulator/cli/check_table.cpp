#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <span>
#include <string>

#include "simulator/cli/check_output.hpp"
#include "simulator/cli/paragraph.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::cli {

namespace {

using check::Hazard;
using check::ScheduleCheck;
using check::WaitUse;
using report::Colour;
using report::TextStyle;

std::size_t waits_of(const ScheduleCheck& result, WaitUse::Use use) {
  return static_cast<std::size_t>(std::ranges::count(result.waits, use, &WaitUse::use));
}

std::int64_t stalest(const ScheduleCheck& result, std::string_view resource) {
  std::int64_t updates = 0;
  for (const check::Staleness& read : result.staleness) {
    if (read.resource == resource) updates = std::max(updates, read.updates);
  }
  return updates;
}

bool reads(const ScheduleCheck& result, std::string_view resource) {
  return std::ranges::find(result.staleness, resource, &check::Staleness::resource) != result.staleness.end();
}

/// With those that another's fix mends, as `predict` and the window tell them.
std::int64_t hazards_of(const ScheduleCheck& result) {
  std::int64_t hazards = std::ssize(result.hazards);
  for (const Hazard& hazard : result.hazards) hazards += std::ssize(hazard.also);
  return hazards;
}

std::string verdict_of(const ScheduleCheck& result) {
  if (!result.hazards.empty()) return report::counted(hazards_of(result), "hazard");
  if (!result.known_hazards.empty()) return fmt::format("sound, {} known", result.known_hazards.size());
  if (!result.lost_overlaps.empty()) return "overlap lost";
  if (!result.pointless_streams.empty()) return "idle stream";
  return "sound";
}

Colour colour_of(const ScheduleCheck& result) {
  if (!result.hazards.empty()) return Colour::kBad;
  return result.lost_overlaps.empty() && result.pointless_streams.empty() ? Colour::kGood : Colour::kWarning;
}

std::string side_place(const check::Side& side) {
  std::string place = side.line > 0 ? fmt::format("line {}", side.line) : std::string();
  if (!side.lane.empty()) {
    place += place.empty() ? "" : ", ";
    place += side.lane == "host" ? "on the host" : fmt::format("on {}", side.lane);
  }
  if (side.iterations_before > 0) {
    place += fmt::format(", {} before", report::counted(side.iterations_before, "iteration"));
  }
  return place;
}

void write_hazard(std::ostream& out, const Hazard& hazard, const TextStyle& style) {
  constexpr Margin kDeep{.indent = 4};
  const bool known = !hazard.stays.empty();
  std::string head = fmt::format("{}{}: {}", known ? "known " : "", to_string(hazard.kind), hazard.datum);
  if (hazard.phase != check::Phase::kSteady) {
    head += hazard.phase == check::Phase::kFilling ? ", while the pipeline fills" : ", while the pipeline drains";
  }
  const std::string mark = known ? report::coloured(style, Colour::kWarning, "!")
                                 : report::coloured(style, Colour::kBad, style.unicode ? "✗" : "x");
  out << std::string(kIndent, ' ') << mark << ' ' << report::coloured(style, Colour::kBold, head) << '\n';
  for (const check::Side* side : {&hazard.earlier, &hazard.later}) {
    const std::string place = side_place(*side);
    write_paragraph(out, side->does, place.empty() ? side->operation : fmt::format("{} ({})", side->operation, place),
                    style, kDeep);
  }
  write_paragraph(out, "why", hazard.why, style, kDeep);
  if (known) write_paragraph(out, "stays", hazard.stays, style, kDeep);
  if (hazard.fix) {
    std::string fix = hazard.fix->text;
    if (!hazard.fix->also_orders.empty()) {
      fix += fmt::format("; that waits for {}", hazard.fix->also_orders.front());
      for (std::size_t i = 1; i < hazard.fix->also_orders.size(); ++i) fix += ", " + hazard.fix->also_orders[i];
      fix += " too";
    }
    write_paragraph(out, "fix", fix, style, kDeep);
  }
  for (const std::string& also : hazard.also) write_paragraph(out, "with it", also, style, kDeep);
}

void write_waste(std::ostream& out, const ScheduleCheck& result, const TextStyle& style) {
  constexpr Margin kDeep{.indent = 4};
  const std::string mark = report::coloured(style, Colour::kWarning, "!");
  for (const check::LostOverlap& lost : result.lost_overlaps) {
    out << "  " << mark << ' ' << report::coloured(style, Colour::kBold, fmt::format("lost_overlap: {}", lost.waiter))
        << '\n';
    write_paragraph(out, "why", lost.text, style, kDeep);
    write_paragraph(out, "fix", lost.fix, style, kDeep);
  }
  for (const check::PointlessStream& stream : result.pointless_streams) {
    out << "  " << mark << ' '
        << report::coloured(style, Colour::kBold, fmt::format("pointless_stream: {}", stream.stream)) << '\n';
    write_paragraph(
        out, "why",
        fmt::format("Whatever runs on {0} and on {1} is ordered: it cannot overlap, so that {0} could be {1}.",
                    stream.stream, stream.same_as),
        style, kDeep);
    write_paragraph(out, "fix", fmt::format(R"("{}": {{"same_as": "{}"}})", stream.stream, stream.same_as), style,
                    kDeep);
  }
}

std::string numbers_of(const ScheduleCheck& result) {
  if (result.staleness.empty()) return "nothing is trained";
  if (!result.numerics.as_base) return "left to chance by the hazards";
  if (*result.numerics.as_base) return "as a synchronous loop computes them: nothing is read late";
  std::string text = "differ from a synchronous loop: ";
  for (std::size_t i = 0; i < result.numerics.reasons.size(); ++i) {
    text += (i == 0 ? "" : "; ") + result.numerics.reasons[i];
  }
  return text;
}

void write_in_full(std::ostream& out, const ScheduleCheck& result, const TextStyle& style) {
  write_paragraph(out, "numbers", numbers_of(result), style);
  std::string waits = fmt::format("{} needed", waits_of(result, WaitUse::Use::kNeeded));
  if (const auto redundant = waits_of(result, WaitUse::Use::kRedundant); redundant > 0) {
    waits +=
        fmt::format(", {} redundant{}", redundant, result.redundant_together ? "" : " (each, but not all at once)");
  }
  if (const auto careful = waits_of(result, WaitUse::Use::kPrecaution); careful > 0) {
    waits += fmt::format(", {} by precaution", careful);
  }
  write_paragraph(out, "waits", waits, style);
  for (const WaitUse& wait : result.waits) {
    if (wait.use == WaitUse::Use::kNeeded) continue;
    std::string text = wait.line > 0 ? fmt::format("line {}: {}", wait.line, wait.text) : wait.text;
    if (!wait.reason.empty()) text += fmt::format(", {}", wait.reason);
    write_paragraph(out, wait.use == WaitUse::Use::kRedundant ? "redundant" : "precaution", text, style);
  }
  for (const std::string& note : result.notes) write_paragraph(out, "note", note, style);
  write_paragraph(out, "proved",
                  fmt::format("over {} operations of {} batches, until the order repeats",
                              report::thousands(result.operations), result.batches),
                  style);
}

void write_title(std::ostream& out, const ScheduleCheck& result, const TextStyle& style) {
  constexpr std::size_t kLeastOfPath = 12;
  const std::size_t room = style.width - 28;  // beside the verdict
  std::string title = report::shortened_middle(result.schedule, room);
  const bool is_own = result.source != schedule::built_in_source(result.schedule);
  if (is_own && title.size() + 3 + kLeastOfPath <= room) {
    title += fmt::format(" ({})", report::shortened_middle(result.source, room - title.size() - 3));
  }
  out << report::coloured(style, Colour::kBold, title) << ": "
      << report::coloured(style, colour_of(result), verdict_of(result)) << '\n';
}

void write_overview(std::ostream& out, std::span<const ScheduleCheck> results, const TextStyle& style) {
  constexpr std::size_t kLongestName = 46;
  report::TextTable table({{"schedule"}, {"verdict"}, {"late tables"}, {"late dense"}, {"numbers"}});
  for (const ScheduleCheck& result : results) {
    const auto late = [&](std::string_view resource) {
      return reads(result, resource) ? std::to_string(stalest(result, resource)) : "-";
    };
    const std::string numbers = result.staleness.empty()   ? "-"
                                : !result.numerics.as_base ? "chance"
                                : *result.numerics.as_base ? "as base"
                                                           : "differ";
    table.add({report::shortened_middle(result.schedule, kLongestName),
               report::coloured(style, colour_of(result), verdict_of(result)), late("tables"), late("dense_parameters"),
               numbers});
  }
  out << table.text(style);
}

}  // namespace

bool has_hazards(const CheckAnswer& answer) {
  return !answer.between_ranks.empty() ||
         std::ranges::any_of(answer.traces, [](const auto& one) { return !one.found.hazards.empty(); }) ||
         std::ranges::any_of(answer.schedules, [](const ScheduleCheck& one) { return !one.hazards.empty(); });
}

void write_check_table(std::ostream& out, const CheckAnswer& answer, const TextStyle& style) {
  const bool alone = answer.schedules.size() == 1 && answer.traces.empty();
  bool is_first = true;
  const auto set_apart = [&] {
    if (!is_first) out << '\n';
    is_first = false;
  };
  if (answer.schedules.size() > 1) {
    set_apart();
    write_overview(out, answer.schedules, style);
  }
  for (const ScheduleCheck& result : answer.schedules) {
    const bool clean = result.hazards.empty() && result.lost_overlaps.empty() && result.pointless_streams.empty();
    if (answer.schedules.size() > 1 && clean) continue;
    set_apart();
    write_title(out, result, style);
    for (const Hazard& hazard : result.hazards) write_hazard(out, hazard, style);
    for (const Hazard& hazard : result.known_hazards) write_hazard(out, hazard, style);
    write_waste(out, result, style);
    if (alone) write_in_full(out, result, style);
  }
  for (const CheckedRecording& result : answer.traces) {
    set_apart();
    write_trace_check(out, result, style);
  }
  if (answer.between_ranks.empty()) return;
  set_apart();
  out << report::coloured(style, Colour::kBold, "between the ranks") << '\n';
  for (const Hazard& hazard : answer.between_ranks) write_hazard(out, hazard, style);
}

}  // namespace interlace::cli
