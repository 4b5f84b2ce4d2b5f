#include <algorithm>
#include <ostream>
#include <string_view>

#include "simulator/cli/check_output.hpp"
#include "simulator/report/json_text.hpp"

namespace interlace::cli {

namespace {

using report::Json;

std::string_view word_of(check::WaitUse::Use use) {
  switch (use) {
    case check::WaitUse::Use::kNeeded: return "needed";
    case check::WaitUse::Use::kPrecaution: return "precaution";
    case check::WaitUse::Use::kRedundant: return "redundant";
  }
  return {};
}

/// null for a line that is not known.
Json line_of(int line) { return line > 0 ? Json(line) : Json(nullptr); }

Json json_of(const check::Side& side) {
  return Json{{"operation", side.operation},
              {"does", side.does},
              {"lane", side.lane},
              {"line", line_of(side.line)},
              {"iterations_before", side.iterations_before}};
}

Json json_of(const check::Hazard& hazard) {
  Json fix(nullptr);
  if (hazard.fix) fix = Json{{"text", hazard.fix->text}, {"also_orders", hazard.fix->also_orders}};
  return Json{{"kind", to_string(hazard.kind)},
              {"phase", to_string(hazard.phase)},
              {"datum", hazard.datum},
              {"earlier", json_of(hazard.earlier)},
              {"later", json_of(hazard.later)},
              {"why", hazard.why},
              {"fix", std::move(fix)},
              {"also", hazard.also},
              {"stays", hazard.stays.empty() ? Json(nullptr) : Json(hazard.stays)}};
}

Json json_of(const check::LostOverlap& lost) {
  return Json{{"kind", "lost_overlap"},
              {"waiter", lost.waiter},
              {"needless", lost.needless},
              {"line", line_of(lost.line)},
              {"wait_line", line_of(lost.wait_line)},
              {"needless_line", line_of(lost.needless_line)},
              {"why", lost.text},
              {"fix", lost.fix}};
}

Json json_of(const check::WaitUse& wait) {
  return Json{{"use", word_of(wait.use)},
              {"line", line_of(wait.line)},
              {"text", wait.text},
              {"reason", wait.reason.empty() ? Json(nullptr) : Json(wait.reason)}};
}

Json json_of(const check::PointlessStream& stream) {
  return Json{{"kind", "pointless_stream"}, {"stream", stream.stream}, {"same_as", stream.same_as}};
}

Json json_of(const check::Staleness& read) {
  return Json{{"stage", read.stage}, {"resource", read.resource}, {"updates", read.updates}};
}

Json json_of(const trace_check::Side& side) {
  return Json{
      {"stage", side.stage}, {"batch", side.batch}, {"does", side.does}, {"stream", side.stream}, {"work", side.work}};
}

Json json_of(const trace_check::TraceHazard& hazard) {
  return Json{{"kind", to_string(hazard.kind)},
              {"datum", hazard.datum},
              {"ranks", hazard.ranks},
              {"earlier", json_of(hazard.earlier)},
              {"later", json_of(hazard.later)},
              {"at_ns", hazard.at},
              {"smallest_margin_ns", hazard.smallest_margin},
              {"largest_margin_ns", hazard.largest_margin},
              {"occurrences", hazard.occurrences},
              {"overlapped", hazard.overlapped}};
}

Json json_of(const trace_check::TraceStaleness& read) {
  return Json{{"stage", read.stage}, {"resource", read.resource}, {"least", read.least}, {"most", read.most}};
}

Json json_of(const check::ScheduleCheck& result);
Json json_of(const CheckedRecording& checked);

template <class T>
Json array_of(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(json_of(value));
  return array;
}

Json json_of(const check::ScheduleCheck& result) {
  return Json{
      {"schedule", result.schedule},
      {"source", result.source},
      {"verdict", result.hazards.empty() ? "sound" : "hazardous"},
      {"hazards", array_of(result.hazards)},
      {"known_hazards", array_of(result.known_hazards)},
      {"lost_overlaps", array_of(result.lost_overlaps)},
      {"pointless_streams", array_of(result.pointless_streams)},
      {"waits", array_of(result.waits)},
      {"redundant_together", result.redundant_together},
      {"staleness", array_of(result.staleness)},
      {"numerics", Json{{"as_base", report::or_null(result.numerics.as_base)}, {"reasons", result.numerics.reasons}}},
      {"notes", result.notes},
      {"batches", result.batches},
      {"operations", result.operations}};
}

Json json_of(const CheckedRecording& checked) {
  const trace_check::TraceCheck& result = checked.found;
  return Json{
      {"source", result.source},
      {"schedule", result.schedule.empty() ? Json(nullptr) : Json(result.schedule)},
      {"looks_like", report::or_null(checked.looks_like)},
      {"verdict", !result.hazards.empty()     ? "hazardous"
                  : !result.undecided.empty() ? "undecided"
                  : checked.lost_data()       ? "incomplete"
                                              : "sound"},
      {"hazards", array_of(result.hazards)},
      {"known_hazards", array_of(result.known_hazards)},
      {"undecided", array_of(result.undecided)},
      {"held_by_host", array_of(result.held_by_host)},
      {"staleness", array_of(result.staleness)},
      {"stage_runs", result.stage_runs},
      {"checked", result.checked},
      {"unchecked", result.unchecked},
      {"blocks_checked", result.has_memory ? Json(result.blocks_checked) : Json(nullptr)},
      {"blocks_recorded", result.has_memory ? Json(result.blocks_recorded) : Json(nullptr)},
      {"collectives_unmatched", result.collectives_unmatched},
      {"waits",
       {{"recorded", result.waits_recorded}, {"inferred", result.waits_inferred}, {"unknown", result.waits_unknown}}},
      {"diagnostics", report::json_of(std::span<const Diagnostic>(checked.diagnostics))}};
}

}  // namespace

void write_check_json(std::ostream& out, const CheckAnswer& answer) {
  out << report::text_of(Json{{"schedules", array_of(answer.schedules)},
                              {"traces", array_of(answer.traces)},
                              {"between_ranks", array_of(answer.between_ranks)}});
}

}  // namespace interlace::cli
