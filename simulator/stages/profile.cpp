#include "simulator/stages/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "simulator/base/json_error.hpp"
#include "simulator/base/nearest_word.hpp"
#include "simulator/base/pattern.hpp"
#include "simulator/base/text_file.hpp"
#include "simulator/stages/profile_texts.hpp"

namespace interlace::stages {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, ModuleFrom>, 4> kModuleWords{{
    {"enclosing", ModuleFrom::kEnclosing},
    {"next", ModuleFrom::kNext},
    {"last", ModuleFrom::kLast},
    {"count", ModuleFrom::kCount},
}};

constexpr const char* kAdvice = "see docs/annotation_profiles.md";

[[noreturn]] void refuse(std::string_view place, const std::string& problem) {
  throw Error(kBadProfile, std::string(place), problem, kAdvice);
}

std::string pattern(const json& value, std::string_view place) {
  if (!value.is_string()) refuse(place, "a pattern must be a string");
  auto text = value.get<std::string>();
  try {
    static_cast<void>(Pattern(text));
  } catch (const Pattern::Problem& error) {
    refuse(place, fmt::format("\"{}\" is not a regular expression: {}", text, error.what()));
  }
  return text;
}

std::vector<std::string> patterns(const json& value, std::string_view place) {
  if (!value.is_array() || value.empty()) refuse(place, "expected a list of patterns");
  std::vector<std::string> all;
  for (const json& one : value) all.push_back(pattern(one, place));
  return all;
}

void parse_module(const json& value, std::string_view place, Rule& rule) {
  if (!value.is_object() || value.size() != 1)
    refuse(place, "\"module\" must hold one of enclosing, next, last, count");
  for (const auto& [word, from] : kModuleWords) {
    if (!value.contains(word)) continue;
    rule.module_from = from;
    rule.module_pattern = pattern(value[std::string(word)], place);
    return;
  }
  refuse(place, fmt::format("\"module\": \"{}\" is none of enclosing, next, last, count", value.begin().key()));
}

/// The parts that a schedule places apart, or waits for one by one: work of no part would be waited for by nobody.
std::vector<Piece> pieces_of(schedule::Stage stage) {
  switch (stage) {
    case schedule::Stage::kInputDistStart: return {Piece::kPermute, Piece::kExchange};
    case schedule::Stage::kInputDistWait: return {Piece::kSplits, Piece::kTensors};
    case schedule::Stage::kBackward: return {Piece::kDense, Piece::kGradDist, Piece::kOrder, Piece::kUpdate};
    default: return {};
  }
}

/// A backward of no further parts is that of a dense net.
void settle_piece(Rule& rule, bool has_piece, std::string_view place) {
  const std::vector<Piece> pieces = pieces_of(rule.stage);
  if (!has_piece && rule.stage == schedule::Stage::kBackward) rule.piece = Piece::kDense;
  if (pieces.empty() ? rule.piece == Piece::kWhole : std::ranges::count(pieces, rule.piece) > 0) return;
  std::vector<std::string_view> words;
  for (const Piece piece : pieces) words.push_back(to_string(piece));
  const std::string_view stage = to_string(rule.stage);
  if (words.empty()) refuse(place, fmt::format("stage \"{}\" has no pieces", stage));
  refuse(place, fmt::format("stage \"{}\" needs a \"piece\": one of {}", stage, fmt::join(words, ", ")));
}

Rule parse_rule(const json& value, std::string_view place) {
  Rule rule;
  if (!value.is_object()) refuse(place, "a rule must be an object");
  for (const auto& [key, field] : value.items()) {
    if (key == "stage") {
      const auto stage = field.is_string() ? schedule::stage_named(field.get<std::string>()) : std::nullopt;
      if (!stage) refuse(place, fmt::format("unknown stage {}", field.dump()));
      rule.stage = *stage;
    } else if (key == "piece") {
      const auto piece = field.is_string() ? piece_named(field.get<std::string>()) : std::nullopt;
      if (!piece) refuse(place, fmt::format("unknown piece {}", field.dump()));
      rule.piece = *piece;
    } else if (key == "within") {
      rule.within = patterns(field, place);
    } else if (key == "markers") {
      rule.markers = patterns(field, place);
    } else if (key == "module") {
      parse_module(field, place, rule);
    } else {
      refuse(place, fmt::format("unknown field \"{}\"", key));
    }
  }
  if (!value.contains("stage") || rule.within.empty()) refuse(place, "a rule needs \"stage\" and \"within\"");
  settle_piece(rule, value.contains("piece"), place);
  return rule;
}

}  // namespace

Profile parse_profile(std::string_view text, std::string_view source) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    refuse(source, not_json(error.what()));
  }
  if (!document.is_object() || document.value("interlace_annotations", json()) != 1) {
    refuse(source, "not an annotation profile of version 1 (\"interlace_annotations\": 1 is missing)");
  }
  Profile profile;
  if (!document.contains("iteration_end")) refuse(source, "\"iteration_end\" is missing");
  if (document.contains("name") && !document["name"].is_string()) refuse(source, "\"name\" must be a string");
  profile.name = document.value("name", std::string(source));
  profile.iteration_end = pattern(document["iteration_end"], source);
  if (document.contains("backward")) profile.backward = pattern(document["backward"], source);
  if (document.contains("frees")) {
    if (document["frees"] != "behind_last_use") refuse(source, "\"frees\" can only be \"behind_last_use\"");
    profile.frees = Frees::kBehindLastUse;
  }
  if (!document.contains("rules") || !document["rules"].is_array()) refuse(source, "\"rules\" must be a list");
  for (const json& rule : document["rules"]) {
    profile.rules.push_back(parse_rule(rule, fmt::format("{}: rule {}", source, profile.rules.size() + 1)));
  }
  return profile;
}

Profile read_profile(const std::filesystem::path& file) {
  return parse_profile(read_text_file(file, kBadProfile, kAdvice), file.string());
}

const Profile& torchrec_profile() {
  static const Profile kTorchrec = parse_profile(kTorchrecProfileText, "torchrec");
  return kTorchrec;
}

const Profile& interlace_profile() {
  static const Profile kInterlace = parse_profile(kInterlaceProfileText, "interlace");
  return kInterlace;
}

Profile load_profile(const std::string& name_or_file) {
  if (name_or_file == kBuiltInProfiles[0]) return torchrec_profile();
  if (name_or_file == kBuiltInProfiles[1]) return interlace_profile();
  std::error_code unknown;
  if (!std::filesystem::exists(name_or_file, unknown)) {
    throw Error(
        kBadProfile, name_or_file,
        fmt::format("neither a file nor a built-in profile{}", did_you_mean(nearest(name_or_file, kBuiltInProfiles))),
        fmt::format("built in are {}; {}", fmt::join(kBuiltInProfiles, " and "), kAdvice));
  }
  return read_profile(name_or_file);
}

const Profile& profile_of(const trace::Trace& trace) {
  const auto knows = [&](const Profile& profile) {
    const Pattern iteration(profile.iteration_end);
    return std::ranges::any_of(trace.strings(), [&](const std::string& s) { return iteration.is_in(s); });
  };
  return knows(interlace_profile()) && !knows(torchrec_profile()) ? interlace_profile() : torchrec_profile();
}

}  // namespace interlace::stages
