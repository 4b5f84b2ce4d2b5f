#include "simulator/campaign/campaign_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "simulator/campaign/sha256.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/report/json_text.hpp"

namespace interlace::campaign {

namespace {

using report::Json;

constexpr const char* kPlan = "plan.json";
constexpr const char* kPrediction = "prediction.json";
constexpr const char* kDigest = "prediction.sha256";

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

template <class T>
void get(const Json& json, const char* key, std::optional<T>& value) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null()) value = found->template get<T>();
}

Json json_of(const Plan& plan) {
  Json json{{"interlace_campaign", 1},       {"interlace", plan.interlace},
            {"created", plan.created},       {"workload", plan.workload},
            {"recorded", plan.recorded},     {"schedules", plan.schedules},
            {"device", plan.device},         {"steps", plan.steps},
            {"warmup", plan.warmup},         {"recorded_steps", plan.recorded_steps},
            {"references", plan.references}, {"repeats", plan.repeats},
            {"record_all", plan.record_all}, {"environment", plan.environment},
            {"settings", plan.settings},     {"hardware", plan.hardware}};
  put(json, "ranks", plan.ranks);
  put(json, "batch", plan.batch);
  put(json, "recording", plan.recording);
  put(json, "machine", plan.machine);
  return json;
}

Plan plan_of(const Json& json) {
  Plan plan;
  json.at("interlace").get_to(plan.interlace);
  json.at("created").get_to(plan.created);
  json.at("workload").get_to(plan.workload);
  json.at("recorded").get_to(plan.recorded);
  json.at("schedules").get_to(plan.schedules);
  json.at("device").get_to(plan.device);
  json.at("steps").get_to(plan.steps);
  json.at("warmup").get_to(plan.warmup);
  json.at("recorded_steps").get_to(plan.recorded_steps);
  plan.references = json.value("references", 0);  // older campaigns made none
  json.at("repeats").get_to(plan.repeats);
  json.at("record_all").get_to(plan.record_all);
  json.at("environment").get_to(plan.environment);
  json.at("settings").get_to(plan.settings);
  json.at("hardware").get_to(plan.hardware);
  get(json, "ranks", plan.ranks);
  get(json, "batch", plan.batch);
  get(json, "recording", plan.recording);
  get(json, "machine", plan.machine);
  return plan;
}

Json json_of(const Overlap& overlap) {
  return Json{{"communication_hidden_ratio", report::or_null(overlap.hidden_ratio)},
              {"exposed_communication_ms", overlap.exposed_ms}};
}

Overlap overlap_of(const Json& json) {
  Overlap overlap;
  get(json, "communication_hidden_ratio", overlap.hidden_ratio);
  json.at("exposed_communication_ms").get_to(overlap.exposed_ms);
  return overlap;
}

Json json_of(const PredictionFile& prediction) {
  Json schedules = Json::array();
  for (const PredictedSchedule& one : prediction.schedules) {
    Json row{{"schedule", one.schedule}, {"step_ms", one.step_ms}, {"low_ms", one.low_ms}, {"high_ms", one.high_ms}};
    put(row, "no_contention_ms", one.no_contention_ms);
    put(row, "critical_path_ms", one.critical_path_ms);
    row["overlap"] = json_of(one.overlap);
    row["allocated_peak_bytes"] = one.allocated_peak;
    row["reserved_peak_bytes"] = one.reserved_peak;
    schedules.push_back(std::move(row));
  }
  Json left_out = Json::array();
  for (const LeftOut& one : prediction.left_out) left_out.push_back({{"schedule", one.schedule}, {"why", one.why}});
  return {{"interlace_campaign_prediction", 1},
          {"recorded", prediction.recorded},
          {"schedules", std::move(schedules)},
          {"left_out", std::move(left_out)}};
}

PredictionFile prediction_of(const Json& json) {
  PredictionFile prediction;
  json.at("recorded").get_to(prediction.recorded);
  for (const Json& row : json.at("schedules")) {
    PredictedSchedule one;
    row.at("schedule").get_to(one.schedule);
    row.at("step_ms").get_to(one.step_ms);
    row.at("low_ms").get_to(one.low_ms);
    row.at("high_ms").get_to(one.high_ms);
    get(row, "no_contention_ms", one.no_contention_ms);
    get(row, "critical_path_ms", one.critical_path_ms);
    one.overlap = overlap_of(row.at("overlap"));
    row.at("allocated_peak_bytes").get_to(one.allocated_peak);
    row.at("reserved_peak_bytes").get_to(one.reserved_peak);
    prediction.schedules.push_back(std::move(one));
  }
  for (const Json& row : json.at("left_out")) {
    prediction.left_out.push_back({row.at("schedule").get<std::string>(), row.at("why").get<std::string>()});
  }
  return prediction;
}

Json json_of(const MeasuredRun& run) {
  Json json{{"schedule", run.schedule}, {"repeat", run.repeat}, {"position", run.position}};
  if (run.failure) {
    json["failure"] = *run.failure;
    return json;
  }
  json["step_ms"] = run.step_ms;
  json["single_steps_ms"] = run.single_steps_ms;
  json["allocated_peak_bytes"] = run.allocated_peak;
  json["reserved_peak_bytes"] = run.reserved_peak;
  return json;
}

MeasuredRun run_of(const Json& json) {
  MeasuredRun run;
  json.at("schedule").get_to(run.schedule);
  json.at("repeat").get_to(run.repeat);
  json.at("position").get_to(run.position);
  get(json, "failure", run.failure);
  if (run.failure) return run;
  json.at("step_ms").get_to(run.step_ms);
  json.at("single_steps_ms").get_to(run.single_steps_ms);
  json.at("allocated_peak_bytes").get_to(run.allocated_peak);
  json.at("reserved_peak_bytes").get_to(run.reserved_peak);
  return run;
}

Json json_of(const MeasuredTrace& trace) {
  Json json{{"schedule", trace.schedule}};
  if (trace.failure) {
    json["failure"] = *trace.failure;
    return json;
  }
  json["step_ms"] = trace.step_ms;
  json["overlap"] = json_of(trace.overlap);
  if (!trace.single_steps_hidden.empty()) json["single_steps_hidden_ratio"] = trace.single_steps_hidden;
  return json;
}

MeasuredTrace trace_of_json(const Json& json) {
  MeasuredTrace trace;
  json.at("schedule").get_to(trace.schedule);
  get(json, "failure", trace.failure);
  if (trace.failure) return trace;
  json.at("step_ms").get_to(trace.step_ms);
  trace.overlap = overlap_of(json.at("overlap"));
  trace.single_steps_hidden = json.value("single_steps_hidden_ratio", std::vector<double>{});
  return trace;
}

/// What a file of a campaign holds, as `convert` understands it.
template <class Convert>
auto parsed(const std::filesystem::path& file, const std::string& text, Convert convert) {
  try {
    return convert(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw Error(kBadFile, file.string(), error.what(), "restore the file, or delete it to do that part again");
  }
}

constexpr const char* kReferences = "references";
constexpr const char* kRuns = "runs";

/// The .json files of a folder, by name.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<MeasuredRun> read_runs_in(const std::filesystem::path& folder) {
  std::vector<MeasuredRun> runs;
  for (const auto& file : json_files(folder)) runs.push_back(parsed(file, *content_of(file), run_of));
  return runs;
}

void write_run_into(const Folder& folder, const char* part, const MeasuredRun& run, std::size_t number) {
  folder.write(fmt::format("{}/{:03}.json", part, number), report::text_of(json_of(run)));
}

}  // namespace

std::optional<std::string> content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string file_stem(std::string schedule) {
  std::ranges::replace_if(
      schedule, [](char c) { return c == '/' || c == '\\' || c == ' '; }, '_');
  return schedule;
}

std::filesystem::path Folder::trace_of(const std::string& schedule) const {
  return path_ / "traces" / file_stem(schedule);
}

void Folder::create(const Plan& plan) const {
  if (std::filesystem::exists(path_ / kPlan)) {
    throw Error(kBadFolder, path_.string(), "a campaign was begun here",
                "go on with --resume, or name another folder with --out");
  }
  std::error_code failure;
  for (const char* part : {kReferences, kRuns, "traces", "logs"}) {
    std::filesystem::create_directories(path_ / part, failure);
    if (failure) throw Error(kBadFolder, (path_ / part).string(), "cannot be made: " + failure.message());
  }
  write(kPlan, report::text_of(json_of(plan)));
}

Plan Folder::read_plan() const {
  const auto text = content_of(path_ / kPlan);
  if (!text) {
    throw Error(kBadFolder, path_.string(), "holds no campaign: there is no plan.json", "begin one with --out");
  }
  return parsed(path_ / kPlan, *text, plan_of);
}

std::string Folder::prediction_digest() const {
  const auto text = content_of(path_ / kDigest);
  return text ? text->substr(0, text->find_first_of(" \n")) : std::string();
}

std::optional<PredictionFile> Folder::read_prediction() const {
  const auto text = content_of(path_ / kPrediction);
  const std::string digest = prediction_digest();
  if (!text || digest.empty()) return std::nullopt;
  if (sha256(*text) != digest) {
    throw Error(kPredictionChanged, (path_ / kPrediction).string(),
                "is not the file whose digest was kept before the first measurement", "begin a new campaign");
  }
  return parsed(path_ / kPrediction, *text, prediction_of);
}

void Folder::write_prediction(const PredictionFile& prediction) const {
  const std::string text = report::text_of(json_of(prediction));
  write(kPrediction, text);
  write(kDigest, sha256(text) + "  " + kPrediction + "\n");
}

std::vector<MeasuredRun> Folder::read_references() const { return read_runs_in(path_ / kReferences); }

void Folder::write_reference(const MeasuredRun& run, std::size_t number) const {
  write_run_into(*this, kReferences, run, number);
}

std::vector<MeasuredRun> Folder::read_runs() const { return read_runs_in(path_ / kRuns); }

void Folder::write_run(const MeasuredRun& run, std::size_t number) const { write_run_into(*this, kRuns, run, number); }

std::vector<MeasuredTrace> Folder::read_traces() const {
  std::vector<MeasuredTrace> traces;
  for (const auto& file : json_files(path_ / "traces")) {
    traces.push_back(parsed(file, *content_of(file), trace_of_json));
  }
  return traces;
}

void Folder::write_trace(const MeasuredTrace& trace) const {
  write("traces/" + file_stem(trace.schedule) + ".json", report::text_of(json_of(trace)));
}

void Folder::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path partial = path_ / (name + ".partial");
  report::write_file(partial, [&](std::ostream& out) { out << text; });
  std::error_code failure;
  std::filesystem::rename(partial, path_ / name, failure);
  if (failure) throw Error(kBadFolder, (path_ / name).string(), "cannot be written: " + failure.message());
}

}  // namespace interlace::campaign
