#include <ostream>
#include <span>

#include "simulator/cli/explain_output.hpp"
#include "simulator/report/json_text.hpp"

namespace interlace::cli {

namespace {

using report::Json;

Json json_of(const explain::Matching& matching) {
  Json unmatched = Json::array();
  for (const explain::Unmatched& row : matching.unmatched) {
    unmatched.push_back({{"only_in", row.measured ? "measured" : "predicted"},
                         {"stage", row.stage},
                         {"operation", row.operation},
                         {"works_a_step", row.works},
                         {"time_ns", row.time_ns}});
  }
  Json operations = Json::array();
  for (const explain::OperationTimes& row : matching.operations) {
    operations.push_back({{"stage", row.stage},
                          {"operation", row.operation},
                          {"works_a_step", row.works},
                          {"measured_ns", row.measured_ns},
                          {"predicted_ns", row.predicted_ns}});
  }
  Json moved = Json::array();
  for (const explain::Moved& row : matching.moved) {
    moved.push_back({{"stage", row.stage}, {"works_a_step", row.works}, {"time_ns", row.time_ns}});
  }
  Json uneven = Json::array();
  for (const explain::Uneven& row : matching.uneven) {
    uneven.push_back(
        {{"stage", row.stage}, {"measured_works_a_step", row.measured}, {"predicted_works_a_step", row.predicted}});
  }
  return {{"measured_works_a_step", matching.measured},
          {"predicted_works_a_step", matching.predicted},
          {"matched_measured_works_a_step", matching.matched_measured},
          {"matched_predicted_works_a_step", matching.matched_predicted},
          {"unmatched", std::move(unmatched)},
          {"operations", std::move(operations)},
          {"moved", std::move(moved)},
          {"uneven", std::move(uneven)}};
}

}  // namespace

void write_explain_json(std::ostream& out, const ExplainAnswer& answer) {
  const explain::Explanation& explanation = answer.explanation;
  Json causes = Json::object();
  for (std::size_t i = 0; i < explain::kCauses; ++i) {
    const auto cause = static_cast<explain::Cause>(i);
    causes[std::string(to_string(cause))] = explanation.of(cause);
  }
  Json parts = Json::array();
  for (const explain::Part& part : explanation.parts) {
    parts.push_back({{"cause", to_string(part.cause)},
                     {"effect_ns", part.effect_ns},
                     {"stage", part.stage},
                     {"of_stage", part.of_stage},
                     {"operation", part.operation}});
  }
  const Json json{{"interlace_explanation", 1},
                  {"measured", answer.measured},
                  {"predicted", answer.predicted},
                  {"measured_step_ns", explanation.measured_step_ns},
                  {"predicted_step_ns", explanation.predicted_step_ns},
                  {"difference_ns", explanation.difference_ns()},
                  {"measured_steps", explanation.measured_steps},
                  {"predicted_steps", explanation.predicted_steps},
                  {"all_measured_steps", explanation.all_measured_steps},
                  {"all_predicted_steps", explanation.all_predicted_steps},
                  {"causes_ns", std::move(causes)},
                  {"parts", std::move(parts)},
                  {"matching", json_of(explanation.matching)},
                  {"diagnostics",
                   {{"measured", report::json_of(std::span<const Diagnostic>(answer.of_measured))},
                    {"predicted", report::json_of(std::span<const Diagnostic>(answer.of_predicted))}}}};
  out << report::text_of(json);
}

}  // namespace interlace::cli
