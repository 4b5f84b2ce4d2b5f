#include <algorithm>
#include <ostream>

#include "simulator/report/json_text.hpp"
#include "simulator/report/predict_data.hpp"

namespace interlace::report {

namespace {

Json json_of_recorded_memory(const std::vector<RecordedMemory>& memory) {
  Json ranks = Json::array();
  for (const RecordedMemory& one : memory) {
    ranks.push_back(Json{{"rank", one.rank},
                         {"allocated_peak_bytes", or_null(one.allocated_peak)},
                         {"active_peak_bytes", or_null(one.active_peak)},
                         {"reserved_peak_bytes", or_null(one.reserved_peak)}});
  }
  return ranks;
}

Json json_of_overlap(const analysis::OverlapSummary& summary, std::optional<Nanoseconds> host_blocked_ns) {
  Json overlap = json_of(summary);
  overlap["host_blocked_ns"] = or_null(host_blocked_ns);
  return overlap;
}

}  // namespace

Json json_of(const RecordedRun& recorded) {
  Json late_starts = Json::array();
  for (const LateStarts& one : recorded.late_starts) {
    late_starts.push_back(Json{{"stream", one.stream}, {"late_ns", one.late_ns}});
  }
  return Json{
      {"files", recorded.files},
      {"edits", recorded.edits},
      {"schedule", or_null(recorded.schedule)},
      {"ranks", recorded.ranks},
      {"world_size", or_null(recorded.world_size)},
      {"recordings", recorded.recordings},
      {"steps", recorded.steps},
      {"steps_found", recorded.steps_found},
      {"step_time_ns", or_null(recorded.step_time_ns)},
      {"predicted_step_time_ns", or_null(recorded.predicted_step_time_ns)},
      {"replay_error", or_null(recorded.replay_error)},
      {"replayed_hidden_ratio", or_null(recorded.replayed_hidden_ratio)},
      {"overlap", recorded.overlap ? json_of_overlap(*recorded.overlap, recorded.host_blocked_ns) : Json(nullptr)},
      {"late_starts", std::move(late_starts)},
      {"uneven_parts_ns", recorded.uneven_parts_ns},
      {"memory", json_of_recorded_memory(recorded.memory)},
      {"gpu_memory_bytes", or_null(recorded.capacity)},
      {"machine",
       {{"profile", or_null(recorded.machine_profile)},
        {"from_profile", recorded.machine_values},
        {"from_recording", recorded.machine_fitted}}},
      {"diagnostics", json_of(recorded.diagnostics)}};
}

namespace {

Json json_of_rank(const RankMemory& memory) {
  Json culprits = Json::array();
  for (const MemoryCulprit& culprit : memory.culprits) {
    culprits.push_back(Json{{"stage", culprit.stage}, {"batch", culprit.batch}, {"bytes", culprit.bytes}});
  }
  Json pools = Json::array();
  for (const StreamPool& pool : memory.pools) {
    pools.push_back(Json{{"stream", pool.stream}, {"reserved_bytes", pool.reserved}, {"in_use_bytes", pool.in_use}});
  }
  return Json{
      {"persistent_bytes", memory.persistent}, {"culprits", std::move(culprits)},    {"pools", std::move(pools)},
      {"split_free_bytes", memory.split_free}, {"failure", or_null(memory.failure)}, {"retries", memory.retries},
      {"played_steps", memory.played_steps}};
}

/// One value a rank, where memory is known.
void add_memory(Json& row, const std::vector<RankMemory>& memory) {
  if (memory.empty()) return;
  const auto list = [&](Bytes RankMemory::*member) {
    Json values = Json::array();
    for (const RankMemory& rank : memory) values.push_back(rank.*member);
    return values;
  };
  row["allocated_peak_bytes"] = list(&RankMemory::allocated_peak);
  row["active_peak_bytes"] = list(&RankMemory::active_peak);
  row["reserved_peak_bytes"] = list(&RankMemory::reserved_peak);
  row["reserved_low_bytes"] = list(&RankMemory::reserved_low);
  row["reserved_high_bytes"] = list(&RankMemory::reserved_high);
  Json ranks = Json::array();
  for (const RankMemory& rank : memory) ranks.push_back(json_of_rank(rank));
  row["memory"] = std::move(ranks);
}

Json json_of_prediction(const Prediction& row, const RecordedRun& recorded) {
  std::vector<std::string> reasons = row.reasons;
  reasons.insert(reasons.end(), row.races.begin(), row.races.end());
  Json json{{"schedule", row.schedule},
            {"step_time_ns", row.step_time_ns},
            {"step_time_low_ns", row.step_time_low_ns},
            {"step_time_high_ns", row.step_time_high_ns},
            {"speedup", or_null(row.speedup)},
            {"overlap", json_of_overlap(row.overlap, row.host_blocked_ns)},
            {"exposed_communication_ns", row.overlap.exposed_communication_ns},
            {"reasons", std::move(reasons)},
            {"diagnostics", json_of(row.diagnostics)},
            {"hazards", row.hazards},
            {"known_hazards", row.known_hazards},
            {"tables_updates_late", or_null(row.tables_late)},
            {"dense_parameters_updates_late", or_null(row.parameters_late)}};
  if (!row.step_times_ns.empty()) json["step_times_of_recordings_ns"] = row.step_times_ns;
  if (recorded.capacity) json["fits"] = or_null(fits(row));
  add_memory(json, row.memory);
  return json;
}

}  // namespace

Json json_of(std::span<const SkippedSchedule> skipped) {
  Json all = Json::array();
  for (const SkippedSchedule& one : skipped) all.push_back({{"schedule", one.schedule}, {"why", one.why}});
  return all;
}

void write_predict_json(std::ostream& out, const PredictReport& report) {
  Json predictions = Json::array();
  for (const Prediction& row : report.predictions) predictions.push_back(json_of_prediction(row, report.recorded));
  out << text_of(Json{{"recorded", json_of(report.recorded)},
                      {"predictions", std::move(predictions)},
                      {"left_out", json_of(report.skipped)}});
}

}  // namespace interlace::report
