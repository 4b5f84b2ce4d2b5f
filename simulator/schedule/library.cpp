#include "simulator/schedule/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "simulator/base/nearest_word.hpp"
#include "simulator/schedule/library_files.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {

namespace {

Schedule parse_entry(const LibraryEntry& entry) { return parse(entry.text, built_in_source(entry.name)); }

}  // namespace

std::span<const LibraryEntry> library() { return library_files(); }

bool is_built_in(std::string_view name) {
  const auto entries = library();
  return std::ranges::find(entries, name, &LibraryEntry::name) != entries.end();
}

std::string built_in_source(std::string_view name) { return fmt::format("built-in {}", name); }

std::optional<std::string_view> full_name(std::string_view name, std::span<const LibraryEntry> entries) {
  const auto whole = std::ranges::find(entries, name, &LibraryEntry::name);
  if (whole != entries.end()) return whole->name;
  if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  std::optional<std::string_view> found;
  for (const LibraryEntry& entry : entries) {
    if (entry.name.substr(entry.name.rfind('/') + 1) != name) continue;
    if (found) return std::nullopt;
    found = entry.name;
  }
  return found;
}

Schedule find(std::string_view name) {
  const auto entries = library();
  if (const auto meant = full_name(name, entries)) {
    return parse_entry(*std::ranges::find(entries, *meant, &LibraryEntry::name));
  }
  std::vector<std::string_view> names;
  for (const LibraryEntry& entry : entries) names.push_back(entry.name);
  throw Error(kNoSuchSchedule, "", fmt::format("no schedule \"{}\"{}", name, did_you_mean(nearest(name, names, 3))),
              "`interlace schedules` lists them; a file of your own ends in .json");
}

Schedule load(std::string_view name_or_file) {
  if (is_built_in(name_or_file)) return find(name_or_file);
  const std::filesystem::path file(name_or_file);
  const bool is_short_name = full_name(name_or_file, library()).has_value();
  const bool exists = is_short_name ? std::filesystem::is_regular_file(file) : std::filesystem::exists(file);
  if (file.extension() == ".json" || exists) return parse_file(file);
  return find(name_or_file);
}

std::string name_with_file(std::string_view name, std::string_view file) {
  std::string both = fmt::format("{}+", name);
  for (const char c : std::filesystem::path(file).stem().string()) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    both += fits ? c : '_';
  }
  return both;
}

Schedule load_beside(std::string_view name_or_file, std::span<const Schedule> others) {
  Schedule schedule = load(name_or_file);
  const auto is_another = [&](const Schedule& other) {
    return other.name == schedule.name && other.source != schedule.source && !same_pipeline(other, schedule);
  };
  const auto is_taken = [&] {
    const auto entry = std::ranges::find(library(), schedule.name, &LibraryEntry::name);
    return (entry != library().end() && is_another(parse_entry(*entry))) || std::ranges::any_of(others, is_another);
  };
  if (!is_taken()) return schedule;
  const std::string with_file = name_with_file(schedule.name, schedule.source);
  schedule.name = with_file;
  for (int number = 2; is_taken(); ++number) schedule.name = fmt::format("{}-{}", with_file, number);
  return schedule;
}

std::vector<Schedule> all_sound() {
  std::vector<Schedule> sound;
  for (const LibraryEntry& entry : library()) {
    Schedule schedule = parse_entry(entry);
    if (!schedule.hazardous) sound.push_back(std::move(schedule));
  }
  return sound;
}

std::vector<AskedSchedule> asked_schedules(std::span<const std::string> wanted) {
  std::vector<AskedSchedule> asked;
  std::vector<Schedule> named;
  const auto add = [&](Schedule schedule, bool by_name) {
    const auto same =
        std::ranges::find(asked, schedule.name, [](const AskedSchedule& one) { return one.schedule.name; });
    if (same == asked.end()) {
      asked.push_back({std::move(schedule), by_name});
    } else {
      same->by_name = same->by_name || by_name;
    }
  };
  for (const std::string& name : wanted) {
    if (name != "all") {
      add(named.emplace_back(load_beside(name, named)), true);
      continue;
    }
    for (Schedule& schedule : all_sound()) add(std::move(schedule), false);
  }
  return asked;
}

}  // namespace interlace::schedule
