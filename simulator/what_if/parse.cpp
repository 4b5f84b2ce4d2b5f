#include "simulator/what_if/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "simulator/base/json_error.hpp"
#include "simulator/base/pattern.hpp"
#include "simulator/base/text_file.hpp"

namespace interlace::what_if {

namespace {

using nlohmann::json;
using replay::WorkKind;
using schedule::Stage;

constexpr double kUsualHostTime = 10;
/// cudaGraphLaunch takes 3 to 8 us for up to a thousand kernels on an H200's host (docs/benchmarks/graph_capture), and
/// Python a few more to get there.
constexpr double kUsualGraphLaunch = 10;

constexpr std::array<std::pair<std::string_view, WorkKind>, 5> kKindWords{{
    {"kernel", WorkKind::kKernel},
    {"collective", WorkKind::kCollective},
    {"host_copy", WorkKind::kHostCopy},
    {"device_copy", WorkKind::kDeviceCopy},
    {"memset", WorkKind::kMemset},
}};

/// Stages that replay takes apart by module: a piece of work of no module has no place in them.
constexpr std::array kByModule{Stage::kInputDistStart, Stage::kInputDistWait, Stage::kInputDistFinish,
                               Stage::kOutputDistWait};

/// Reads one edit; knows where it stands.
class EditReader {
 public:
  EditReader(const json& edit, std::string place) : edit_(&edit), place_(std::move(place)) {}

  Edit read() const {
    if (!edit_->is_object()) refuse("an edit must be an object");
    if (edit_->contains("scale")) return {scale(), place_, swept()};
    if (edit_->contains("drop_sync")) {
      allow(*edit_, {"drop_sync"});
      return {DropSync{stage_within("drop_sync")}, place_};
    }
    if (edit_->contains("capture")) {
      allow(*edit_, {"capture", "host_us"});
      return {CaptureStage{stage_within("capture"), host_time(kUsualGraphLaunch)}, place_};
    }
    if (edit_->contains("stage")) return {added(), place_, swept()};
    refuse("an edit needs \"scale\", \"drop_sync\", \"capture\" or \"stage\"");
  }

 private:
  using Change = decltype(Edit::change);

  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(kBadEdit, place_, problem, "see docs/edits.md");
  }

  void allow(const json& object, std::initializer_list<std::string_view> fields) const {
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(fields, std::string_view(key)) == fields.end()) {
        refuse(fmt::format("\"{}\" has no meaning here", key));
      }
    }
  }

  /// {"drop_sync": {"stage": S}}
  Stage stage_within(const char* field) const {
    const json& what = edit_->at(field);
    if (!what.is_object() || !what.contains("stage")) refuse(fmt::format("\"{}\" must hold a \"stage\"", field));
    allow(what, {"stage"});
    return stage(what.at("stage"));
  }

  static Nanoseconds nanoseconds(double us) {
    return static_cast<Nanoseconds>(std::llround(us * static_cast<double>(kMicrosecond)));
  }

  /// "host_us", or as many microseconds where it is absent.
  Nanoseconds host_time(double usual_us) const {
    return nanoseconds(edit_->contains("host_us") ? number(*edit_, "host_us", kMostMicroseconds, true) : usual_us);
  }

  bool swept() const {
    if (!edit_->contains("swept")) return false;
    if (!edit_->at("swept").is_boolean()) refuse("\"swept\" must be true or false");
    return edit_->at("swept").get<bool>();
  }

  Change scale() const {
    allow(*edit_, {"scale", "by", "swept"});
    const json& what = edit_->at("scale");
    if (!what.is_object() || what.size() != 1) {
      refuse("\"scale\" must hold one of stage, kernels, kind, link, host");
    }
    if (!edit_->contains("by")) refuse("\"by\" is missing");
    const double by = number(*edit_, "by", kMostTimes, false);
    const std::string& key = what.begin().key();
    const json& value = what.begin().value();
    if (key == "stage") return ScaleStage{stage(value), by};
    if (key == "kernels") return ScaleKernels{pattern(value), by};
    if (key == "kind") return ScaleKind{kind(value), by};
    if (key == "link") return ScaleLink{link(value), by};
    if (key != "host") refuse(fmt::format("\"{}\" is none of stage, kernels, kind, link, host", key));
    if (!value.is_boolean() || !value.get<bool>()) refuse("\"host\" must be true");
    return ScaleHost{by};
  }

  AddWork added() const {
    allow(*edit_, {"stage", "takes_us", "kind", "host_us", "sms", "swept"});
    AddWork work;
    work.stage = stage(edit_->at("stage"));
    if (std::ranges::find(kByModule, work.stage) != kByModule.end()) {
      refuse(
          fmt::format("\"{}\" is done module by module and cannot be given as a whole; scale what was recorded of it",
                      schedule::to_string(work.stage)));
    }
    if (!edit_->contains("takes_us")) refuse("\"takes_us\" is missing");
    work.takes = std::max<Nanoseconds>(1, nanoseconds(number(*edit_, "takes_us", kMostMicroseconds, false)));
    work.host = host_time(kUsualHostTime);
    if (edit_->contains("kind")) work.kind = kind(edit_->at("kind"));
    if (edit_->contains("sms")) work.sms = sms(work.kind);
    return work;
  }

  std::int32_t sms(WorkKind of) const {
    constexpr std::int64_t kMostSms = 1024;
    if (of != WorkKind::kKernel && of != WorkKind::kCollective) refuse("only kernels and collectives occupy \"sms\"");
    const json& value = edit_->at("sms");
    if (!value.is_number_integer()) refuse("\"sms\" must be a whole number");
    const auto count = value.get<std::int64_t>();
    if (count < 1 || count > kMostSms) refuse(fmt::format("\"sms\" must be from 1 to {}", kMostSms));
    return static_cast<std::int32_t>(count);
  }

  double number(const json& object, const char* field, double most, bool may_be_zero) const {
    const json& value = object.at(field);
    const double x = value.is_number() ? value.get<double>() : -1.0;
    if (!(x >= 0 && x <= most) || (x == 0 && !may_be_zero)) {
      refuse(fmt::format("\"{}\" must be a number {} 0 and at most {:.0f}", field,
                         may_be_zero ? "of at least" : "above", most));
    }
    return x;
  }

  Stage stage(const json& value) const {
    const auto found = value.is_string() ? schedule::stage_named(value.get<std::string>()) : std::nullopt;
    if (!found) refuse(fmt::format("{} is not a stage of the schedule language", printed(value)));
    return *found;
  }

  WorkKind kind(const json& value) const {
    const auto known = std::ranges::find_if(
        kKindWords, [&](const auto& word) { return value.is_string() && value.get<std::string>() == word.first; });
    if (known == kKindWords.end()) {
      refuse(fmt::format("{} is none of kernel, collective, host_copy, device_copy, memset", printed(value)));
    }
    return known->second;
  }

  Link link(const json& value) const {
    if (value == "gpu") return Link::kGpu;
    if (value != "host") refuse(fmt::format("{} is neither \"gpu\" nor \"host\"", printed(value)));
    return Link::kHost;
  }

  std::string pattern(const json& value) const {
    if (!value.is_string()) refuse("\"kernels\" must be a regular expression");
    auto text = value.get<std::string>();
    try {
      static_cast<void>(Pattern(text));
    } catch (const Pattern::Problem& error) {
      refuse(fmt::format("\"{}\" is not a regular expression: {}", text, error.what()));
    }
    return text;
  }

  static std::string printed(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

  const json* edit_;
  std::string place_;
};

/// Parses JSON in which no object has a field twice.
json parse_strictly(std::string_view text, std::string_view source) {
  std::vector<std::set<std::string>> open;
  const auto check = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second) {
      throw Error(kBadEdit, std::string(source),
                  fmt::format("\"{}\" stands twice in one object", parsed.get<std::string>()), "remove one");
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    throw Error(kBadEdit, std::string(source), not_json(error.what()), "see docs/edits.md");
  }
}

}  // namespace

std::vector<Edit> parse_edits(std::string_view text, std::string_view source) {
  const json document = parse_strictly(text, source);
  const auto refuse = [&](const std::string& problem) {
    throw Error(kBadEdit, std::string(source), problem, "see docs/edits.md");
  };
  if (!document.is_object() || !document.contains("interlace_edits") || document["interlace_edits"] != 1) {
    refuse("not a list of edits of version 1 (\"interlace_edits\": 1 is missing)");
  }
  if (!document.contains("edits") || !document["edits"].is_array() || document["edits"].empty()) {
    refuse("\"edits\" must be a list of at least one edit");
  }
  for (const auto& [key, value] : document.items()) {
    if (key != "interlace_edits" && key != "edits" && key != "description") {
      refuse(fmt::format("\"{}\" has no meaning here", key));
    }
  }
  std::vector<Edit> edits;
  for (const json& edit : document["edits"]) {
    edits.push_back(EditReader(edit, fmt::format("{}: edit {}", source, edits.size() + 1)).read());
  }
  return edits;
}

std::vector<Edit> read_edits(const std::filesystem::path& file) {
  return parse_edits(read_text_file(file, kBadEdit, "check the name and that you may read it"), file.string());
}

std::vector<Edit> read_edits(std::span<const std::string> files) {
  std::vector<Edit> all;
  for (const std::string& file : files)
    std::ranges::move(read_edits(std::filesystem::path(file)), std::back_inserter(all));
  return all;
}

}  // namespace interlace::what_if
