#include "simulator/campaign/judgement_json.hpp"

#include "simulator/report/json_text.hpp"

namespace interlace::campaign {

namespace {

using report::Json;
using report::or_null;

Json json_of(const ErrorSizes& sizes) {
  if (sizes.count == 0) return nullptr;
  return Json{{"mean", sizes.mean}, {"largest", sizes.largest}, {"count", sizes.count}};
}

Json json_of(const ScheduleJudgement& row) {
  const auto& overlap = row.measured_overlap;
  const bool ran = row.runs > 0;
  return Json{
      {"schedule", row.schedule},
      {"recorded", row.recorded},
      {"runs", row.runs},
      {"failure", or_null(row.failure)},
      {"measured_ms", ran ? Json(row.measured_ms) : Json(nullptr)},
      {"spread_ms", or_null(row.spread_ms)},
      {"predicted_ms", row.predicted_ms},
      {"inside_predicted_interval", ran ? Json(row.inside) : Json(nullptr)},
      {"step_error_percent", or_null(row.step_error)},
      {"speedup_error_percent", or_null(row.speedup_error)},
      {"no_change_error_percent", or_null(row.no_change_error)},
      {"no_contention_error_percent", or_null(row.no_contention_error)},
      {"critical_path_error_percent", or_null(row.critical_path_error)},
      {"measured_communication_hidden_ratio", overlap ? or_null(overlap->hidden_ratio) : Json(nullptr)},
      {"predicted_communication_hidden_ratio", or_null(row.predicted_overlap.hidden_ratio)},
      {"overlap_error_points", or_null(row.overlap_error)},
      {"overlap_floor_points", or_null(row.overlap_floor)},
      {"measured_exposed_communication_ms", overlap ? Json(overlap->exposed_ms) : Json(nullptr)},
      {"predicted_exposed_communication_ms", row.predicted_overlap.exposed_ms},
      {"measured_allocated_peak_bytes", or_null(row.measured_allocated)},
      {"predicted_allocated_peak_bytes", or_null(row.predicted_allocated)},
      {"allocated_error_percent", or_null(row.allocated_error)},
      {"measured_reserved_peak_bytes", or_null(row.measured_reserved)},
      {"predicted_reserved_peak_bytes", or_null(row.predicted_reserved)},
      {"reserved_error_percent", or_null(row.reserved_error)},
  };
}

}  // namespace

std::string judgement_json(const Plan& plan, const std::string& prediction_digest, const PredictionFile& prediction,
                           const Judgement& judgement) {
  Json rows = Json::array();
  for (const ScheduleJudgement& row : judgement.schedules) rows.push_back(json_of(row));
  Json left_out = Json::array();
  for (const LeftOut& one : prediction.left_out) left_out.push_back({{"schedule", one.schedule}, {"why", one.why}});
  Json json{{"interlace_campaign_report", 1},
            {"interlace", plan.interlace},
            {"created", plan.created},
            {"workload", plan.workload},
            {"recorded", plan.recorded},
            {"device", plan.device},
            {"ranks", or_null(plan.ranks)},
            {"batch", or_null(plan.batch)},
            {"repeats", plan.repeats},
            {"timed_steps", plan.steps},
            {"settings", plan.settings},
            {"hardware", plan.hardware},
            {"prediction_sha256", prediction_digest},
            {"schedules", std::move(rows)},
            {"left_out", std::move(left_out)},
            {"summary",
             {{"speedup_error_percent", json_of(judgement.speedup)},
              {"repeat_floor_percent", json_of(judgement.repeat_floor)},
              {"no_change_error_percent", json_of(judgement.no_change)},
              {"no_contention_error_percent", json_of(judgement.no_contention)},
              {"critical_path_error_percent", json_of(judgement.critical_path)},
              {"step_error_percent", json_of(judgement.step)},
              {"overlap_error_points", json_of(judgement.overlap_points)},
              {"overlap_floor_points", json_of(judgement.overlap_floor)},
              {"allocated_error_percent", json_of(judgement.allocated)},
              {"reserved_error_percent", json_of(judgement.reserved)},
              {"pairs_counted", judgement.pairs_counted},
              {"pairs_right", judgement.pairs_right},
              {"pairs_wrong", judgement.pairs_wrong}}}};
  if (plan.recordings > 1) json["recordings"] = plan.recordings;
  return report::text_of(json);
}

}  // namespace interlace::campaign
