#include "simulator/schedule/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/base/nearest_word.hpp"

namespace interlace::schedule {

JsonFields::JsonFields(const LocatedJson::Object& object, int line, std::string who, std::vector<Problem>& problems)
    : object_(object), line_(line), who_(std::move(who)), problems_(problems) {
  for (auto at = object.begin(); at != object.end(); ++at) {
    const auto same_key = [&](const LocatedJson::Member& other) { return other.key == at->key; };
    if (std::any_of(object.begin(), at, same_key)) {
      problems_.push_back({kRepeatedField, at->line, fmt::format("{}: field \"{}\" stands twice", who_, at->key)});
    }
  }
}

bool JsonFields::has(std::string_view key) const {
  return std::ranges::find(object_, key, &LocatedJson::Member::key) != object_.end();
}

int JsonFields::line_of(std::string_view key) const {
  const auto found = std::ranges::find(object_, key, &LocatedJson::Member::key);
  return found == object_.end() ? line_ : found->line;
}

const LocatedJson* JsonFields::take(std::string_view key) {
  taken_.push_back(key);
  const auto found = std::ranges::find(object_, key, &LocatedJson::Member::key);
  return found == object_.end() ? nullptr : &found->value;
}

template <class T>
const T* JsonFields::take_as(std::string_view key, std::string_view wanted) {
  const LocatedJson* field = take(key);
  if (field == nullptr) return nullptr;
  const T* value = field->get_if<T>();
  if (value == nullptr) report(kBadValue, key, fmt::format("\"{}\" is {}, not {}", key, kind_of(*field), wanted));
  return value;
}

std::optional<std::string> JsonFields::take_string(std::string_view key) {
  const auto* value = take_as<std::string>(key, "a string");
  if (value == nullptr) return std::nullopt;
  if (value->empty()) {
    report(kBadValue, key, fmt::format("\"{}\" is empty", key));
    return std::nullopt;
  }
  return *value;
}

std::optional<bool> JsonFields::take_bool(std::string_view key) {
  const auto* value = take_as<bool>(key, "true or false");
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::int32_t> JsonFields::take_int(std::string_view key, std::int32_t low, std::int32_t high) {
  const auto* value = take_as<std::int64_t>(key, "a whole number");
  if (value == nullptr) return std::nullopt;
  if (*value < low || *value > high) {
    report(kBadValue, key, fmt::format("\"{}\" is {}, must be {} to {}", key, *value, low, high));
    return std::nullopt;
  }
  return static_cast<std::int32_t>(*value);
}

std::vector<std::string> JsonFields::take_strings(std::string_view key) {
  const LocatedJson* field = take(key);
  if (field == nullptr) return {};
  if (const auto* one = field->get_if<std::string>()) return {*one};
  std::vector<std::string> strings;
  const auto* array = field->get_if<LocatedJson::Array>();
  if (array == nullptr) {
    report(kBadValue, key, fmt::format("\"{}\" is {}, not an array of strings", key, kind_of(*field)));
    return {};
  }
  for (const LocatedJson& element : *array) {
    if (const auto* text = element.get_if<std::string>()) {
      strings.push_back(*text);
    } else {
      problems_.push_back(
          {kBadValue, element.line, fmt::format("{}: \"{}\" holds {} among its strings", who_, key, kind_of(element))});
    }
  }
  return strings;
}

std::vector<std::string> JsonFields::take_names(std::string_view key) {
  auto names = take_strings(key);
  if (std::erase(names, "") > 0) report(kBadValue, key, fmt::format("\"{}\" holds an empty name", key));
  return names;
}

void JsonFields::report(ErrorCode code, std::string_view key, const std::string& text) {
  problems_.push_back({code, line_of(key), fmt::format("{}: {}", who_, text)});
}

void JsonFields::finish(std::span<const std::string_view> here, std::span<const std::string_view> elsewhere) {
  for (const LocatedJson::Member& member : object_) {
    if (std::ranges::find(taken_, member.key) != taken_.end()) continue;
    taken_.push_back(member.key);
    if (std::ranges::find(elsewhere, member.key) != elsewhere.end()) {
      report(kMisplacedField, member.key, fmt::format("\"{}\" has no meaning here", member.key));
    } else {
      report(kUnknownField, member.key,
             fmt::format("field \"{}\" unknown{}", member.key, did_you_mean(nearest(member.key, here))));
    }
  }
}

}  // namespace interlace::schedule
