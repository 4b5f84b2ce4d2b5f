#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <ostream>
#include <string>

#include "simulator/cli/check_output.hpp"
#include "simulator/cli/paragraph.hpp"

namespace interlace::cli {

namespace {

using report::Colour;
using report::TextStyle;
using trace_check::TraceCheck;
using trace_check::TraceHazard;

constexpr Margin kWide{.width = 12};
constexpr Margin kUnderHazard{.indent = 4, .width = 12};

std::string margin_text(Nanoseconds time) {
  constexpr Nanoseconds kLong = 10 * kMillisecond;
  if (time < kLong) return fmt::format("{:.1f} us", static_cast<double>(time) / 1e3);
  return fmt::format("{:.1f} ms", static_cast<double>(time) / 1e6);
}

std::string side_text(const trace_check::Side& side) {
  return fmt::format("{} of batch {} ({} on {})", side.stage, side.batch,
                     report::shortened_middle(report::short_kernel_name(side.work), 48), side.stream);
}

std::string times(std::int64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

std::string luck(const TraceHazard& hazard) {
  if (hazard.overlapped > 0) {
    return fmt::format("seen {}, overlapped {}, by {} at most", times(hazard.occurrences), times(hazard.overlapped),
                       margin_text(-hazard.smallest_margin));
  }
  if (hazard.occurrences == 1) return fmt::format("seen once; it went well by {}", margin_text(hazard.smallest_margin));
  return fmt::format("seen {}; it went well by {} to {}", times(hazard.occurrences),
                     margin_text(hazard.smallest_margin), margin_text(hazard.largest_margin));
}

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

struct Look {
  Colour colour = Colour::kBad;
  std::string_view mark;
  std::string_view prefix;
  std::string_view note;
};

void write_hazard(std::ostream& out, const TraceHazard& hazard, const Look& look, const TextStyle& style) {
  out << "  " << report::coloured(style, look.colour, look.mark) << ' '
      << report::coloured(
             style, Colour::kBold,
             fmt::format("{}{}: {} on {}", look.prefix, to_string(hazard.kind), hazard.datum, ranks_text(hazard.ranks)))
      << '\n';
  write_paragraph(out, hazard.earlier.does, side_text(hazard.earlier), style, kUnderHazard);
  write_paragraph(out, hazard.later.does, side_text(hazard.later), style, kUnderHazard);
  write_paragraph(out, "luck", luck(hazard), style, kUnderHazard);
  if (!look.note.empty()) write_paragraph(out, "but", look.note, style, kUnderHazard);
}

std::string held_text(const TraceHazard& held) {
  return fmt::format("{} of {} would be a hazard between {} ({}) and {} ({}), if the host did not wait in between",
                     to_string(held.kind), held.datum, held.earlier.stage, held.earlier.stream, held.later.stage,
                     held.later.stream);
}

std::string verdict(const CheckedRecording& checked) {
  const TraceCheck& result = checked.found;
  if (!result.hazards.empty()) return report::counted(static_cast<std::int64_t>(result.hazards.size()), "hazard");
  if (!result.undecided.empty()) return fmt::format("{} undecided", result.undecided.size());
  std::string sound = checked.lost_data() ? "sound as far as it was recorded" : "sound";
  if (!result.has_memory) sound += ", memory not checked";
  return result.known_hazards.empty() ? sound : fmt::format("{}, {} known", sound, result.known_hazards.size());
}

std::string staleness_text(const trace_check::TraceStaleness& read) {
  const std::string from = read.least == read.most ? "" : fmt::format("{} to ", read.least);
  return fmt::format("{} reads {} {}{} late", read.stage, read.resource, from, report::counted(read.most, "update"));
}

}  // namespace

void write_trace_check(std::ostream& out, const CheckedRecording& checked, const TextStyle& style) {
  const TraceCheck& result = checked.found;
  const Colour colour = !result.hazards.empty()                            ? Colour::kBad
                        : !result.undecided.empty() || checked.lost_data() ? Colour::kWarning
                                                                           : Colour::kGood;
  out << report::coloured(style, Colour::kBold, report::shortened_middle(result.source, style.width - 28)) << ": "
      << report::coloured(style, colour, verdict(checked)) << '\n';
  const Look wrong{Colour::kBad, style.unicode ? "✗" : "x", "", ""};
  const Look known{Colour::kWarning, "!", "known ", "the schedule says that it has this hazard"};
  const Look undecided{Colour::kWarning, "?", "undecided ",
                       "a wait in between may order them: the recording does not tell for sure what it waits for"};
  for (const TraceHazard& hazard : result.hazards) write_hazard(out, hazard, wrong, style);
  for (const TraceHazard& hazard : result.known_hazards) write_hazard(out, hazard, known, style);
  for (const TraceHazard& hazard : result.undecided) write_hazard(out, hazard, undecided, style);
  if (!result.schedule.empty()) write_paragraph(out, "recorded", "under " + result.schedule, style, kWide);
  if (checked.looks_like) {
    write_paragraph(out, "but",
                    fmt::format("it looks like one under {}; if it is, stages are counted to wrong batches here",
                                *checked.looks_like),
                    style, kWide);
  }
  write_flaws(out, "", checked.diagnostics, style, kWide);
  write_paragraph(out, "checked",
                  fmt::format("{} kernels, copies and collectives of {}{}", report::thousands(result.checked),
                              report::counted(result.stage_runs, "stage run"),
                              result.unchecked == 0 ? ""
                                                    : fmt::format("; of {} more it is not known what they touch",
                                                                  report::thousands(result.unchecked))),
                  style, kWide);
  write_paragraph(out, "memory",
                  result.has_memory
                      ? fmt::format("{} blocks that stages left to others and that were used again, {} of them kept "
                                    "by record_stream",
                                    report::thousands(result.blocks_checked), report::thousands(result.blocks_recorded))
                      : "not checked: no frees with their completion in the recording (--memory-snapshot)",
                  style, kWide);
  write_paragraph(out, "waits",
                  fmt::format("{} recorded, {} inferred, {} unknown", report::thousands(result.waits_recorded),
                              report::thousands(result.waits_inferred), report::thousands(result.waits_unknown)),
                  style, kWide);
  if (result.collectives_unmatched > 0) {
    write_paragraph(out, "collectives",
                    fmt::format("{} without peers on the other ranks", report::thousands(result.collectives_unmatched)),
                    style, kWide);
  }
  for (const TraceHazard& held : result.held_by_host)
    write_paragraph(out, "by the host", held_text(held), style, kWide);
  for (const trace_check::TraceStaleness& read : result.staleness)
    write_paragraph(out, "late", staleness_text(read), style, kWide);
}

}  // namespace interlace::cli
