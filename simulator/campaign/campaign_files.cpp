#include "simulator/campaign/campaign_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
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
  Json json{{"interlace_campaign", 1},         {"interlace", plan.interlace},
            {"created", plan.created},         {"workload", plan.workload},
            {"recorded", plan.recorded},       {"schedules", plan.schedules},
            {"device", plan.device},           {"steps", plan.steps},
            {"warmup", plan.warmup},           {"recorded_steps", plan.recorded_steps},
            {"recordings", plan.recordings},   {"references", plan.references},
            {"repeats", plan.repeats},         {"record_all", plan.record_all},
            {"environment", plan.environment}, {"settings", plan.settings},
            {"hardware", plan.hardware}};
  put(json, "ranks", plan.ranks);
  put(json, "batch", plan.batch);
  put(json, "recording", plan.recording);
  put(json, "machine", plan.machine);
  if (!plan.engine.empty()) json["engine_sha256"] = plan.engine;
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
  plan.recordings = json.value("recordings", 1);  // older campaigns made one
  plan.references = json.value("references", 0);  // and of these none
  json.at("repeats").get_to(plan.repeats);
  json.at("record_all").get_to(plan.record_all);
  json.at("environment").get_to(plan.environment);
  json.at("settings").get_to(plan.settings);
  json.at("hardware").get_to(plan.hardware);
  get(json, "ranks", plan.ranks);
  get(json, "batch", plan.batch);
  get(json, "recording", plan.recording);
  get(json, "machine", plan.machine);
  plan.engine = json.value("engine_sha256", std::string());
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
    if (!one.ranks.empty()) row["ranks"] = one.ranks;
    row["allocated_peak_bytes"] = one.allocated_peak;
    row["reserved_peak_bytes"] = one.reserved_peak;
    schedules.push_back(std::move(row));
  }
  Json left_out = Json::array();
  for (const LeftOut& one : prediction.left_out) left_out.push_back({{"schedule", one.schedule}, {"why", one.why}});
  Json json{{"interlace_campaign_prediction", 1},
            {"recorded", prediction.recorded},
            {"schedules", std::move(schedules)},
            {"left_out", std::move(left_out)}};
  if (!prediction.made_from.empty()) json["made_from"] = prediction.made_from;
  if (!prediction.recordings.empty()) json["recordings"] = prediction.recordings;
  return json;
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
    one.ranks = row.value("ranks", std::vector<std::int32_t>{});
    row.at("allocated_peak_bytes").get_to(one.allocated_peak);
    row.at("reserved_peak_bytes").get_to(one.reserved_peak);
    prediction.schedules.push_back(std::move(one));
  }
  for (const Json& row : json.at("left_out")) {
    prediction.left_out.push_back({row.at("schedule").get<std::string>(), row.at("why").get<std::string>()});
  }
  prediction.made_from = json.value("made_from", std::map<std::string, std::string>{});
  prediction.recordings = json.value("recordings", std::map<std::string, std::string>{});
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
  Json json{{"schedule", trace.schedule}, {"repeat", trace.repeat}};
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
  trace.repeat = json.value("repeat", 0);
  get(json, "failure", trace.failure);
  if (trace.failure) return trace;
  json.at("step_ms").get_to(trace.step_ms);
  trace.overlap = overlap_of(json.at("overlap"));
  trace.single_steps_hidden = json.value("single_steps_hidden_ratio", std::vector<double>{});
  return trace;
}

/// What a file of a campaign holds, as `convert` understands it.
template <class Convert>
auto parsed(const std::filesystem::path& file, const std::string& text, Convert convert,
            const char* remedy = "restore the file, or delete it to do that part again") {
  try {
    return convert(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw Error(kBadFile, file.string(), error.what(), remedy);
  }
}

constexpr const char* kCannotBeDoneAgain = "restore the file, or begin a new campaign";
constexpr const char* kInputs = "inputs";
constexpr const char* kReferences = "references";
constexpr const char* kRuns = "runs";
constexpr const char* kRecording = "recording";
constexpr const char* kTraces = "traces";

/// "traces", "traces_2" ... for numbers from 0.
std::string numbered(const char* name, std::int32_t number) {
  return number == 0 ? std::string(name) : fmt::format("{}_{}", name, number + 1);
}

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

/// Behind all that are there: some may have been deleted to be made again.
int next_number_in(const std::filesystem::path& folder) {
  int next = 0;
  for (const auto& file : json_files(folder)) {
    int number = 0;
    const std::string stem = file.stem().string();
    const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
    if (error == std::errc{} && end == stem.data() + stem.size()) next = std::max(next, number + 1);
  }
  return next;
}

void write_run_into(const Folder& folder, const char* part, const MeasuredRun& run) {
  const int number = next_number_in(folder.path() / part);
  folder.write(fmt::format("{}/{:03}.json", part, number), report::text_of(json_of(run)));
}

/// Those that tell of recorded runs, in the order of their rounds.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (std::int32_t i = 0; std::filesystem::exists(folder / numbered(kTraces, i)); ++i) {
    std::ranges::copy(json_files(folder / numbered(kTraces, i)), std::back_inserter(files));
  }
  return files;
}

using Digests = std::map<std::string, std::string>;

void add_digest(Digests& digests, const std::string& name, const std::filesystem::path& file) {
  if (const auto text = content_of(file)) digests[name] = sha256(*text);
}

/// What a prediction hangs on, apart from the recordings: names in the folder, with their digests.
Digests bases_of_prediction(const std::filesystem::path& folder) {
  Digests digests;
  const auto add = [&](const std::filesystem::path& file) {
    add_digest(digests, file.lexically_relative(folder).generic_string(), file);
  };
  add(folder / kPlan);
  for (const auto& file : json_files(folder / kReferences)) add(file);
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / kInputs, none)) {
    if (entry.is_regular_file()) add(entry.path());
  }
  return digests;
}

/// The files of the recordings that are there: of those that the campaign made by their names in it, of one that was
/// made elsewhere by their whole paths.
Digests recordings_of(const std::filesystem::path& folder, const Plan& plan) {
  Digests digests;
  const auto add = [&](const std::filesystem::path& file) {
    const std::filesystem::path name = plan.recording ? file : file.lexically_relative(folder);
    add_digest(digests, name.generic_string(), file);
  };
  const auto add_all = [&](const std::filesystem::path& place) {
    std::error_code none;
    if (std::filesystem::is_regular_file(place, none)) add(place);
    for (const auto& entry : std::filesystem::directory_iterator(place, none)) {
      if (entry.is_regular_file()) add(entry.path());
    }
  };
  if (plan.recording) {
    add_all(*plan.recording);
  } else {
    for (std::int32_t i = 0; i < plan.recordings; ++i) add_all(folder / numbered(kRecording, i));
  }
  return digests;
}

/// Throws where one has changed, is gone or has come.
void check_digests(const std::filesystem::path& folder, const Digests& then, const Digests& now) {
  std::set<std::string> files;
  for (const Digests* one : {&then, &now}) {
    for (const auto& [file, digest] : *one) files.insert(file);
  }
  for (const std::string& file : files) {
    const auto made_from = then.find(file);
    const auto found = now.find(file);
    if (made_from != then.end() && found != now.end() && made_from->second == found->second) continue;
    throw Error(kPredictionChanged, (folder / file).string(),
                made_from == then.end() ? "was not there when prediction.json was made"
                : found == now.end()    ? "is gone, which prediction.json was made from"
                                        : "is not what prediction.json was made from",
                "restore it, or begin a new campaign");
  }
}

/// Recordings may be put away, but all of them.
void check_recordings(const std::filesystem::path& folder, const Plan& plan, const PredictionFile& prediction) {
  const Digests now = recordings_of(folder, plan);
  if (!now.empty()) check_digests(folder, prediction.recordings, now);
}

/// Whether anything was measured that a prediction is held against.
bool has_measurements(const std::filesystem::path& folder) {
  return !json_files(folder / kRuns).empty() || !trace_files(folder).empty();
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

std::filesystem::path Folder::recording(std::int32_t number) const { return path_ / numbered(kRecording, number); }

std::int32_t Folder::recordings_made() const {
  std::int32_t made = 0;
  while (std::filesystem::exists(path_ / (numbered(kRecording, made) + ".json"))) ++made;
  return made;
}

void Folder::finish_recording(std::int32_t number, const std::string& said) const {
  write(numbered(kRecording, number) + ".json", said);
}

std::filesystem::path Folder::trace_of(const std::string& schedule, std::int32_t repeat) const {
  return path_ / numbered(kTraces, repeat) / file_stem(schedule);
}

void Folder::create(const Plan& plan, const std::map<std::string, std::string>& inputs) const {
  if (std::filesystem::exists(path_ / kPlan)) {
    throw Error(kBadFolder, path_.string(), "a campaign was begun here",
                "go on with --resume, or name another folder with --out");
  }
  std::set<std::filesystem::path> folders{kReferences, kRuns, "logs"};
  for (std::int32_t repeat = 0; repeat < plan.recordings; ++repeat) folders.insert(numbered(kTraces, repeat));
  for (const auto& [name, text] : inputs) folders.insert(std::filesystem::path(name).parent_path());
  std::error_code failure;
  for (const std::filesystem::path& part : folders) {
    std::filesystem::create_directories(path_ / part, failure);
    if (failure) throw Error(kBadFolder, (path_ / part).string(), "cannot be made: " + failure.message());
  }
  for (const auto& [name, text] : inputs) write(name, text);
  write(kPlan, report::text_of(json_of(plan)));
}

std::string Folder::input(const std::string& named) const {
  const bool kept = *std::filesystem::path(named).begin() == kInputs;
  return kept ? (path_ / named).string() : named;
}

Plan Folder::read_plan() const {
  const auto text = content_of(path_ / kPlan);
  if (!text) {
    throw Error(kBadFolder, path_.string(), "holds no campaign: there is no plan.json", "begin one with --out");
  }
  return parsed(path_ / kPlan, *text, plan_of, kCannotBeDoneAgain);
}

std::string Folder::prediction_digest() const {
  const auto text = content_of(path_ / kDigest);
  return text ? text->substr(0, text->find_first_of(" \n")) : std::string();
}

std::optional<PredictionFile> Folder::read_prediction() const {
  const auto text = content_of(path_ / kPrediction);
  const std::string digest = prediction_digest();
  if (!text || digest.empty()) {
    if (!has_measurements(path_)) return std::nullopt;
    throw Error(kPredictionChanged, (path_ / (text ? kDigest : kPrediction)).string(),
                "is gone, though runs have been measured: a prediction made now would know them", kCannotBeDoneAgain);
  }
  if (sha256(*text) != digest) {
    throw Error(kPredictionChanged, (path_ / kPrediction).string(),
                "is not the file whose digest was kept before the first measurement", kCannotBeDoneAgain);
  }
  PredictionFile prediction = parsed(path_ / kPrediction, *text, prediction_of, kCannotBeDoneAgain);
  if (!prediction.made_from.empty()) check_digests(path_, prediction.made_from, bases_of_prediction(path_));
  if (!prediction.recordings.empty()) check_recordings(path_, read_plan(), prediction);
  return prediction;
}

void Folder::write_prediction(PredictionFile prediction) const {
  prediction.made_from = bases_of_prediction(path_);
  prediction.recordings = recordings_of(path_, read_plan());
  const std::string text = report::text_of(json_of(prediction));
  write(kPrediction, text);
  write(kDigest, sha256(text) + "  " + kPrediction + "\n");
}

std::vector<MeasuredRun> Folder::read_references() const { return read_runs_in(path_ / kReferences); }

void Folder::write_reference(const MeasuredRun& run) const { write_run_into(*this, kReferences, run); }

std::vector<MeasuredRun> Folder::read_runs() const { return read_runs_in(path_ / kRuns); }

int Folder::next_run() const { return next_number_in(path_ / kRuns); }

void Folder::write_run(const MeasuredRun& run) const { write_run_into(*this, kRuns, run); }

std::vector<MeasuredTrace> Folder::read_traces() const {
  std::vector<MeasuredTrace> traces;
  for (const auto& file : trace_files(path_)) traces.push_back(parsed(file, *content_of(file), trace_of_json));
  return traces;
}

void Folder::write_trace(const MeasuredTrace& trace) const {
  write(numbered(kTraces, trace.repeat) + "/" + file_stem(trace.schedule) + ".json", report::text_of(json_of(trace)));
}

void Folder::write(const std::string& name, const std::string& text) const {
  report::write_file(path_ / name, [&](std::ostream& out) { out << text; });
}

Lock::Lock(const Folder& folder) {
  const std::filesystem::path file = folder.path() / ".lock";
  constexpr mode_t kMode = 0644;
  file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file_ < 0) throw Error(kBadFolder, file.string(), std::string("cannot be made: ") + std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  close(file_);
  throw Error(kInUse, folder.path().string(), "another interlace validate is at work on this campaign",
              "wait for it, or end it");
}

Lock::~Lock() { close(file_); }

}  // namespace interlace::campaign
