#include "simulator/schedule/step_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "simulator/base/nearest_word.hpp"

namespace interlace::schedule {

namespace {

constexpr std::string_view kHost = "host";  // the word for "the host waits"

// Every word that a step may have; each kind of step has some of them.
constexpr std::array<std::string_view, 19> kWords = {
    "stage", "batch",  "stream", "after",  "module", "part", "alloc", "record_stream", "kept_until", "mode",
    "async", "record", "reads",  "writes", "frees",  "wait", "on",    "for_each",      "do"};
constexpr std::array<std::string_view, 15> kStageFields = {"stage", "batch",         "stream",     "after",  "module",
                                                           "part",  "alloc",         "mode",       "async",  "record",
                                                           "reads", "record_stream", "kept_until", "writes", "frees"};
constexpr std::array<std::string_view, 4> kWaitFields = {"wait", "stream", "on", "batch"};
constexpr std::array<std::string_view, 2> kRecordFields = {"record", "stream"};
constexpr std::array<std::string_view, 2> kForEachFields = {"for_each", "do"};

bool has_field(const LocatedJson::Object& object, std::string_view key) {
  return std::ranges::find(object, key, &LocatedJson::Member::key) != object.end();
}

bool is_wait(const LocatedJson& json) {
  const auto* object = json.get_if<LocatedJson::Object>();
  return object != nullptr && has_field(*object, "wait") && !has_field(*object, "stage");
}

std::vector<std::string_view> stage_words() {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < kStages; ++i) words.push_back(to_string(static_cast<Stage>(i)));
  return words;
}

}  // namespace

StepReader::StepReader(const Schedule& schedule, const LocatedJson::Array& iteration, std::vector<Problem>& problems)
    : schedule_(schedule), problems_(problems) {
  for (const Stream& stream : schedule.streams) stream_names_.push_back(stream.name);
  collect_events(iteration);
}

void StepReader::collect_events(const LocatedJson::Array& steps) {
  for (const LocatedJson& step : steps) {
    const auto* object = step.get_if<LocatedJson::Object>();
    if (object == nullptr) continue;
    for (const LocatedJson::Member& member : *object) {
      if (member.key == "record") {
        if (const auto* name = member.value.get_if<std::string>()) event_names_.push_back(*name);
      } else if (member.key == "do") {
        if (const auto* inner = member.value.get_if<LocatedJson::Array>()) collect_events(*inner);
      }
    }
  }
}

std::vector<Step> StepReader::read(const LocatedJson::Array& steps) {
  std::vector<Step> read;
  for (const LocatedJson& json : steps) {
    if (auto step = read_step(json)) {
      read.push_back(std::move(*step));
    } else if (!is_wait(json)) {
      complete_ = false;  // a wait that is lost hides nothing from the checks of stages and events
    }
  }
  return read;
}

std::optional<Step> StepReader::read_step(const LocatedJson& json) {
  const auto* object = json.get_if<LocatedJson::Object>();
  if (object == nullptr) {
    problems_.push_back({kBadValue, json.line, fmt::format("step: is {}, not an object", kind_of(json))});
    return std::nullopt;
  }
  const auto step = [&](auto action) -> std::optional<Step> {
    if (!action) return std::nullopt;
    return Step{.action = std::move(*action), .line = json.line};
  };
  if (has_field(*object, "stage")) return step(read_stage(*object, json.line));
  if (has_field(*object, "wait")) return step(read_wait(*object, json.line));
  if (has_field(*object, "for_each")) return step(read_for_each(*object, json.line));
  if (has_field(*object, "record")) return step(read_record(*object, json.line));
  constexpr std::array<std::string_view, 4> kKinds = {"stage", "wait", "record", "for_each"};
  std::vector<std::string_view> meant;
  for (const LocatedJson::Member& member : *object) {
    if (meant.empty()) meant = nearest(member.key, kKinds);
  }
  problems_.push_back(
      {kMissingField, json.line,
       fmt::format(R"(step: has none of "stage", "wait", "record", "for_each"{})", did_you_mean(meant))});
  return std::nullopt;
}

std::optional<Stage> StepReader::stage_word(const std::string& word, int line) {
  if (const auto stage = stage_named(word)) return stage;
  const auto words = stage_words();
  const auto close = nearest(word, words);
  problems_.push_back({kUnknownStage, line, fmt::format("stage \"{}\": unknown{}", word, did_you_mean(close))});
  return close.empty() ? std::nullopt : stage_named(close.front());
}

std::optional<StageStep> StepReader::read_stage(const LocatedJson::Object& object, int line) {
  const auto* word = std::ranges::find(object, "stage", &LocatedJson::Member::key)->value.get_if<std::string>();
  const auto stage = word == nullptr ? std::nullopt : stage_word(*word, line);
  JsonFields fields(object, line, word == nullptr ? "step" : fmt::format("stage \"{}\"", *word), problems_);
  (void)fields.take_string("stage");

  StageStep step;
  step.stage = stage.value_or(Stage::kCompute);
  const std::size_t before = problems_.size();
  if (!fields.has("batch")) fields.report(kMissingField, "batch", "has no \"batch\"; 0 is the batch of the iteration");
  step.batch = fields.take_int("batch", 0, kMaxBatch).value_or(0);
  step.module = fields.take_string("module");
  if (step.module && in_for_each_) {
    fields.report(kMisplacedField, "module", "\"module\" has no meaning inside for_each, which names each in turn");
  }
  if (problems_.size() != before) complete_ = false;
  read_options_of_one_stage(fields, step);
  read_options(fields, step);
  fields.finish(kStageFields, kWords);
  if (!stage) return std::nullopt;
  return step;
}

void StepReader::read_options_of_one_stage(JsonFields& fields, StageStep& step) {
  const auto only_for = [&](std::string_view key, Stage stage) {
    if (!fields.has(key) || step.stage == stage) return;
    fields.report(kMisplacedField, key, fmt::format(R"("{}" is for stage "{}" only)", key, to_string(stage)));
  };
  only_for("part", Stage::kBackward);
  only_for("mode", Stage::kValidateOutput);
  only_for("async", Stage::kAllToAll);

  if (const auto word = fields.take_string("part")) {
    step.part = part_named(*word);
    if (!step.part) {
      fields.report(kBadValue, "part", fmt::format(R"("part" is "{}", must be "dense" or "embedding")", *word));
    }
    if (step.stage != Stage::kBackward) step.part.reset();
  }
  if (step.stage == Stage::kBackward && fields.has("part") && !step.part) complete_ = false;
  if (const auto word = fields.take_string("mode")) {
    step.mode = validate_mode_named(*word);
    if (!step.mode) {
      fields.report(kBadValue, "mode",
                    fmt::format(R"("mode" is "{}", must be "blocking", "event" or "unsafe")", *word));
    }
  } else if (step.stage == Stage::kValidateOutput && !fields.has("mode")) {
    fields.report(kMissingField, "mode", R"(has no "mode": "blocking", "event" or "unsafe")");
  }
  if (step.stage != Stage::kValidateOutput) step.mode.reset();
  step.async = fields.take_bool("async").value_or(false);
}

void StepReader::read_options(JsonFields& fields, StageStep& step) {
  if (fields.has("stream")) {
    step.stream = take_stream(fields, "stream").value_or(StreamIndex{});
  } else if (step.stage == Stage::kNextBatch) {
    step.stream = *schedule_.stream_named("main");
  } else {
    fields.report(kMissingField, "stream", "has no \"stream\"");
  }
  step.after = take_streams(fields, "after");
  if (fields.has("alloc")) step.alloc = take_stream(fields, "alloc");
  step.record_stream = take_streams(fields, "record_stream");
  if (const auto word = fields.take_string("kept_until")) {
    step.kept_until = kept_until_named(*word);
    if (!step.kept_until) {
      auto words = stage_words();
      words.push_back(to_string(KeptUntil{}));
      fields.report(kBadValue, "kept_until",
                    fmt::format(R"("kept_until": "{}" is neither "{}" nor a stage{})", *word, to_string(KeptUntil{}),
                                did_you_mean(nearest(*word, words))));
    }
  }
  step.record = fields.take_string("record");
  if (step.record && schedule_.stream_named(*step.record)) {
    fields.report(kBadValue, "record", fmt::format("event \"{}\" has the name of a stream", *step.record));
  }
  if (step.mode == ValidateMode::kEvent && !fields.has("record")) {
    fields.report(kMissingField, "record", R"(mode "event" needs "record": the event that the host waits for)");
  }
  step.reads = fields.take_names("reads");
  step.writes = fields.take_names("writes");
  step.frees = fields.take_names("frees");
  if (std::ranges::find(step.after, step.stream) != step.after.end()) {
    fields.report(kBadValue, "after", "a stream is always behind its own work: \"after\" may not name it");
  }
}

std::optional<WaitStep> StepReader::read_wait(const LocatedJson::Object& object, int line) {
  const auto* word = std::ranges::find(object, "wait", &LocatedJson::Member::key)->value.get_if<std::string>();
  JsonFields fields(object, line, word == nullptr ? "wait" : fmt::format("wait \"{}\"", *word), problems_);
  const auto name = fields.take_string("wait");
  WaitStep step;
  bool known = false;
  if (name) {
    const auto stream = schedule_.stream_named(*name);
    known = stream || std::ranges::find(event_names_, *name) != event_names_.end();
    if (stream) {
      step.source = *stream;
    } else {
      step.source = *name;
    }
    if (!known) {
      auto words = stream_names_;
      words.insert(words.end(), event_names_.begin(), event_names_.end());
      const bool event = fields.has("on") || fields.has("batch");
      fields.report(
          event ? kEventNeverRecorded : kUnknownStream, "wait",
          fmt::format("neither a stream nor an event that a step records{}", did_you_mean(nearest(*name, words))));
    }
  }
  if (fields.has("batch") && known && std::holds_alternative<StreamIndex>(step.source)) {
    fields.report(kMisplacedField, "batch", "\"batch\" is for events only; a stream is waited for as it stands");
  }
  step.event_batch = fields.take_int("batch", -kMaxBatch, kMaxBatch).value_or(0);
  read_waiter(fields, step);
  fields.finish(kWaitFields, kWords);
  if (!name || !known) return std::nullopt;
  return step;
}

void StepReader::read_waiter(JsonFields& fields, WaitStep& step) {
  if (fields.has("stream") && fields.has("on")) {
    fields.report(kBadValue, "on", R"(has both "stream" and "on"; one says who waits)");
  } else if (!fields.has("stream") && !fields.has("on")) {
    fields.report(kMissingField, "stream", R"(has no "stream" (or "on": "host") that waits)");
  }
  if (fields.has("stream")) step.waiter = take_stream(fields, "stream");
  if (fields.has("on")) {
    const auto on = fields.take_string("on");
    if (on && *on != kHost) step.waiter = stream_of(fields, "on", *on);
  }
  if (step.waiter && std::holds_alternative<StreamIndex>(step.source) &&
      std::get<StreamIndex>(step.source) == *step.waiter) {
    fields.report(kBadValue, "wait", "a stream that waits for itself");
  }
}

std::optional<RecordStep> StepReader::read_record(const LocatedJson::Object& object, int line) {
  const auto* word = std::ranges::find(object, "record", &LocatedJson::Member::key)->value.get_if<std::string>();
  JsonFields fields(object, line, word == nullptr ? "record" : fmt::format("record \"{}\"", *word), problems_);
  const auto event = fields.take_string("record");
  if (event && schedule_.stream_named(*event)) fields.report(kBadValue, "record", "an event with the name of a stream");
  if (!fields.has("stream")) fields.report(kMissingField, "stream", "has no \"stream\"");
  const auto stream = take_stream(fields, "stream");
  fields.finish(kRecordFields, kWords);
  if (!event) return std::nullopt;
  return RecordStep{*event, stream.value_or(StreamIndex{})};
}

std::optional<ForEachModule> StepReader::read_for_each(const LocatedJson::Object& object, int line) {
  JsonFields fields(object, line, "for_each", problems_);
  if (const auto what = fields.take_string("for_each"); what && *what != "module") {
    fields.report(kBadValue, "for_each",
                  fmt::format(R"("{}" unknown; a step can be repeated for each "module")", *what));
  }
  ForEachModule group;
  const LocatedJson* body = fields.take("do");
  const auto* steps = body == nullptr ? nullptr : body->get_if<LocatedJson::Array>();
  fields.finish(kForEachFields, kWords);
  if (body == nullptr) {
    fields.report(kMissingField, "do", "has no \"do\": the steps to repeat");
  } else if (steps == nullptr || steps->empty()) {
    fields.report(kBadValue, "do", "\"do\" must be an array of one step or more");
  } else if (in_for_each_) {
    fields.report(kNestedForEach, "for_each", "stands inside another for_each");
  } else {
    in_for_each_ = true;
    group.steps = read(*steps);
    in_for_each_ = false;
    return group;
  }
  return std::nullopt;
}

std::optional<StreamIndex> StepReader::take_stream(JsonFields& fields, std::string_view key) {
  const auto name = fields.take_string(key);
  return name ? stream_of(fields, key, *name) : std::nullopt;
}

std::vector<StreamIndex> StepReader::take_streams(JsonFields& fields, std::string_view key) {
  std::vector<StreamIndex> streams;
  for (const std::string& name : fields.take_strings(key)) {
    const auto stream = stream_of(fields, key, name);
    if (!stream) continue;
    if (std::ranges::find(streams, *stream) != streams.end()) {
      fields.report(kBadValue, key, fmt::format(R"("{}" names "{}" twice)", key, name));
    }
    streams.push_back(*stream);
  }
  return streams;
}

std::optional<StreamIndex> StepReader::stream_of(JsonFields& fields, std::string_view key, const std::string& name) {
  if (const auto stream = schedule_.stream_named(name)) return stream;
  const auto close = nearest(name, stream_names_);
  fields.report(kUnknownStream, key, fmt::format(R"(stream "{}" is not in "streams"{})", name, did_you_mean(close)));
  return close.empty() ? std::nullopt : schedule_.stream_named(close.front());
}

}  // namespace interlace::schedule
