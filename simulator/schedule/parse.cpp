#include "simulator/schedule/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "simulator/base/nearest_word.hpp"
#include "simulator/base/text_file.hpp"
#include "simulator/schedule/json_fields.hpp"
#include "simulator/schedule/step_reader.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::schedule {

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;  // bytes; the largest of the library has 5000

constexpr std::array<std::string_view, 8> kTopFields = {"interlace_schedule", "name",    "description", "hazardous",
                                                        "known_hazards",      "caution", "streams",     "iteration"};
constexpr std::array<std::string_view, 5> kKnownHazardFields = {"kind", "of", "earlier", "later", "why"};
constexpr std::array<std::string_view, 2> kStreamFields = {"priority", "same_as"};

// Names become names of files: no empty segment, none that leaves the folder.
bool is_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./";
  if (name.size() > kLongestName || name.find_first_not_of(kLetters) != std::string_view::npos) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view segment = name.substr(begin, end - begin);
    if (segment.empty() || segment.find_first_not_of('.') == std::string_view::npos) return false;
    begin = end + 1;
  }
  return true;
}

class Reader {
 public:
  explicit Reader(ReadSchedule& read) : read_(read), schedule_(read.schedule), problems_(read.problems) {}

  void read_top(const LocatedJson& json) {
    const auto* object = json.get_if<LocatedJson::Object>();
    if (object == nullptr) {
      problems_.push_back({kBadValue, json.line, fmt::format("schedule: is {}, not an object", kind_of(json))});
      return;
    }
    JsonFields fields(*object, json.line, "schedule", problems_);
    if (!read_version(fields)) return;
    read_head(fields);
    read_streams(fields.take("streams"));
    read_iteration(fields);
    fields.finish(kTopFields);
  }

 private:
  // Another version has other words: nothing more can be said about such a file.
  bool read_version(JsonFields& fields) {
    const LocatedJson* version = fields.take("interlace_schedule");
    if (version == nullptr) {
      fields.report(kMissingField, "interlace_schedule",
                    fmt::format("has no \"interlace_schedule\": {}, the version of the language", kLanguageVersion));
      return true;
    }
    const auto* number = version->get_if<std::int64_t>();
    if (number != nullptr && *number == kLanguageVersion) return true;
    fields.report(kUnknownVersion, "interlace_schedule",
                  number == nullptr
                      ? fmt::format("\"interlace_schedule\" is {}, must be {}", kind_of(*version), kLanguageVersion)
                      : fmt::format("written in version {} of the language; this program reads version {}", *number,
                                    kLanguageVersion));
    return false;
  }

  void read_head(JsonFields& fields) {
    if (!fields.has("name")) fields.report(kMissingField, "name", "has no \"name\"");
    if (auto name = fields.take_string("name")) {
      if (!is_name(*name)) {
        fields.report(
            kBadValue, "name",
            fmt::format(R"("name" must be segments of letters, digits, "_", "-", "+", "." joined by "/", of at )"
                        "most {} characters in all",
                        kLongestName));
      }
      schedule_.name = std::move(*name);
    }
    schedule_.description = read_text(fields, "description");
    schedule_.hazardous = fields.take_bool("hazardous").value_or(false);
    if (const LocatedJson* known = fields.take("known_hazards")) read_known_hazards(*known);
    schedule_.caution = read_text(fields, "caution");
  }

  /// A string, or strings that are joined by blanks.
  static std::string read_text(JsonFields& fields, std::string_view key) {
    return fmt::format("{}", fmt::join(fields.take_strings(key), " "));
  }

  void read_known_hazards(const LocatedJson& json) {
    const auto* array = json.get_if<LocatedJson::Array>();
    if (array == nullptr) {
      problems_.push_back({kBadValue, json.line, fmt::format("\"known_hazards\" is {}, not an array", kind_of(json))});
      return;
    }
    for (const LocatedJson& entry : *array) {
      const auto* object = entry.get_if<LocatedJson::Object>();
      if (object == nullptr) {
        problems_.push_back({kBadValue, entry.line, fmt::format("known hazard: is {}, not an object", kind_of(entry))});
        continue;
      }
      JsonFields fields(*object, entry.line, "known hazard", problems_);
      const auto take = [&](std::string_view key) {
        if (!fields.has(key)) fields.report(kMissingField, key, fmt::format("has no \"{}\"", key));
        return fields.take_string(key).value_or("");
      };
      const auto take_stage = [&](std::string_view key) -> std::optional<Stage> {
        const auto word = fields.take_string(key);
        const auto stage = word ? stage_named(*word) : std::nullopt;
        if (word && !stage) fields.report(kUnknownStage, key, fmt::format("\"{}\": \"{}\" is no stage", key, *word));
        return stage;
      };
      KnownHazard known{take("kind"), take("of"), take("why"), take_stage("earlier"), take_stage("later")};
      fields.finish(kKnownHazardFields);
      schedule_.known_hazards.push_back(std::move(known));
    }
  }

  void read_streams(const LocatedJson* json) {
    const auto* object = json == nullptr ? nullptr : json->get_if<LocatedJson::Object>();
    if (json != nullptr && object == nullptr) {
      problems_.push_back({kBadValue, json->line, fmt::format("\"streams\" is {}, not an object", kind_of(*json))});
    }
    const LocatedJson::Object none;
    const LocatedJson::Object& members = object == nullptr ? none : *object;
    if (std::ranges::find(members, "main", &LocatedJson::Member::key) == members.end()) {
      schedule_.streams.push_back({.name = "main"});
    }
    std::vector<const LocatedJson::Member*> kept;  // one a stream of the object
    for (const LocatedJson::Member& member : members) {
      if (schedule_.stream_named(member.key)) {
        problems_.push_back({kDuplicateStream, member.line, fmt::format("stream \"{}\": declared twice", member.key)});
        continue;
      }
      if (member.key.empty() || member.key == "host") {
        problems_.push_back({kBadValue, member.line,
                             fmt::format("stream \"{}\": {}", member.key,
                                         member.key.empty() ? "has no name" : "the name of the host's own waits")});
      }
      schedule_.streams.push_back({.name = member.key});
      kept.push_back(&member);
    }
    for (const LocatedJson::Member* member : kept) read_stream(*member);
    refuse_cycles(kept);
  }

  void read_stream(const LocatedJson::Member& member) {
    const std::string who = fmt::format("stream \"{}\"", member.key);
    const auto* object = member.value.get_if<LocatedJson::Object>();
    if (object == nullptr) {
      problems_.push_back(
          {kBadValue, member.line, fmt::format("{}: is {}, not an object", who, kind_of(member.value))});
      return;
    }
    Stream& stream = schedule_.streams[schedule_.stream_named(member.key)->index()];
    JsonFields fields(*object, member.line, who, problems_);
    using Limits = std::numeric_limits<std::int32_t>;
    stream.priority = fields.take_int("priority", Limits::min(), Limits::max()).value_or(0);
    if (const auto target = fields.take_string("same_as")) {
      if (fields.has("priority"))
        fields.report(kMisplacedField, "priority", "has the priority of the stream that it is");
      if (member.key == "main") fields.report(kBadValue, "same_as", "main is the stream of the model itself");
      stream.same_as = schedule_.stream_named(*target);
      if (!stream.same_as) {
        std::vector<std::string_view> names;
        for (const Stream& other : schedule_.streams) names.push_back(other.name);
        fields.report(kUnknownStream, "same_as",
                      fmt::format(R"(same as "{}", which is not in "streams"{})", *target,
                                  did_you_mean(nearest(*target, names))));
      }
    }
    fields.finish(kStreamFields);
  }

  // Each stream of a circle is cut loose after it was reported, so that later code may resolve() all of them.
  void refuse_cycles(const std::vector<const LocatedJson::Member*>& members) {
    for (const LocatedJson::Member* member : members) {
      const StreamIndex start = *schedule_.stream_named(member->key);
      StreamIndex at = start;
      for (std::size_t hops = 0; schedule_.stream(at).same_as; ++hops) {
        if (hops > schedule_.streams.size()) break;  // leads into a circle that another stream belongs to
        at = *schedule_.stream(at).same_as;
        if (at != start) continue;
        problems_.push_back({kSameAsCycle, member->line,
                             fmt::format(R"(stream "{}": its "same_as" leads back to itself)", member->key)});
        schedule_.streams[start.index()].same_as.reset();
        break;
      }
    }
  }

  void read_iteration(JsonFields& fields) {
    const LocatedJson* iteration = fields.take("iteration");
    const auto* steps = iteration == nullptr ? nullptr : iteration->get_if<LocatedJson::Array>();
    if (iteration == nullptr) {
      fields.report(kMissingField, "iteration", "has no \"iteration\": the steps of one training iteration");
    } else if (steps == nullptr || steps->empty()) {
      fields.report(kBadValue, "iteration", "\"iteration\" must be an array of one step or more");
    } else {
      StepReader reader(schedule_, *steps, problems_);
      schedule_.iteration = reader.read(*steps);
      read_.complete = reader.complete();
    }
  }

  ReadSchedule& read_;
  Schedule& schedule_;
  std::vector<Problem>& problems_;
};

}  // namespace

ReadSchedule read_words(std::string_view text, const std::string& source) {
  ReadSchedule read;
  read.schedule.source = source;
  const auto json = read_located_json(text, read.problems);
  if (json) Reader(read).read_top(*json);
  return read;
}

Schedule parse(std::string_view text, const std::string& source) {
  ReadSchedule read = read_words(text, source);
  if (read.complete) {
    for (Problem& problem : find_problems(read.schedule)) read.problems.push_back(std::move(problem));
  }
  if (!read.problems.empty()) throw InvalidSchedule(source, std::move(read.problems));
  return std::move(read.schedule);
}

Schedule parse_file(const std::filesystem::path& file) {
  constexpr const char* kAdvice = "give a schedule file or the name of a built-in one";
  return parse(read_text_file(file, kUnreadable, kAdvice, kLargest), file.string());
}

}  // namespace interlace::schedule
