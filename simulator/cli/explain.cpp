#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "simulator/cli/compared_schedules.hpp"
#include "simulator/cli/explain_output.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/diagnostics_table.hpp"

namespace interlace::cli {

namespace {

struct ExplainRequest {
  std::vector<std::string> inputs;  ///< the measured trace's, then the predicted one
  std::optional<std::string> profile;
  std::string format = "table";
  std::size_t at_most = 15;
};

void run_explain(const ExplainRequest& request, Console& console) {
  const std::vector<std::string> measured_files(request.inputs.begin(), request.inputs.end() - 1);
  const std::string& predicted_file = request.inputs.back();
  ingest::Recording measured = read_recording(measured_files, {}, console);
  ingest::Recording predicted = read_recording({predicted_file}, {}, console);
  console.progress("comparing");
  count_differing_schedules(measured, predicted, request.profile);
  const trace_check::StagedWork measured_stages = staged(measured, request.profile);
  // A profile says how the recorded program names its stages; predicted traces name them themselves.
  const bool named = trace_check::names_its_stages(predicted.trace);
  const trace_check::StagedWork predicted_stages = staged(predicted, named ? std::nullopt : request.profile);
  ExplainAnswer answer{.measured = measured_files.front(),
                       .predicted = predicted_file,
                       .explanation = {},
                       .of_measured = {},
                       .of_predicted = {}};
  if (measured_files.size() > 1) answer.measured += " and " + std::to_string(measured_files.size() - 1) + " more";
  answer.explanation =
      explain::explain(explain::run_of(measured.trace, measured_stages),
                       explain::run_of(predicted.trace, predicted_stages), measured.diagnostics, predicted.diagnostics);
  answer.of_measured = report::gravest_first(measured.diagnostics.entries());
  answer.of_predicted = report::gravest_first(predicted.diagnostics.entries());
  console.done();
  if (request.format == "json") {
    write_explain_json(console.out(), answer);
  } else {
    write_explain_table(console.out(), answer, request.at_most, console.style());
  }
  console.out().flush();
  console.quality(answer.of_measured, "measured trace");
  console.quality(answer.of_predicted, "predicted trace");
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  const auto request = std::make_shared<ExplainRequest>();
  CLI::App* explain =
      app.add_subcommand("explain", "Say where a predicted step differs from the measured one, and by how much");
  explain
      ->add_option("input", request->inputs,
                   "MEASURED...: recordings of one run (files, or a folder of ranks); last PREDICTED: the trace that "
                   "predict --out wrote for the same schedule")
      ->required()
      ->expected(2, 1'000'000)
      ->type_name("FILE|DIR");
  explain->add_option("--profile", request->profile, kProfileHelp)->type_name("NAME|FILE");
  explain->add_option("--format", request->format, "How to write the answer")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  explain->add_option("--top", request->at_most, "Parts to show in the table")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  explain->callback([request, &chosen] { chosen = [request](Console& console) { run_explain(*request, console); }; });
}

}  // namespace interlace::cli
