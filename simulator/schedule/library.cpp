#include "simulator/schedule/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "simulator/schedule/library_files.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {

namespace {

Schedule parse_entry(const LibraryEntry& entry) { return parse(entry.text, fmt::format("built-in {}", entry.name)); }

}  // namespace

std::span<const LibraryEntry> library() { return library_files(); }

Schedule find(std::string_view name) {
  const auto entries = library();
  const auto found = std::ranges::find(entries, name, &LibraryEntry::name);
  if (found != entries.end()) return parse_entry(*found);
  std::vector<std::string_view> names;
  for (const LibraryEntry& entry : entries) names.push_back(entry.name);
  throw Error(kNoSuchSchedule, "", fmt::format("no schedule \"{}\"{}", name, did_you_mean(nearest(name, names, 3))),
              "`interlace schedules` lists them; a file of your own ends in .json");
}

Schedule load(std::string_view name_or_file) {
  const auto entries = library();
  if (std::ranges::find(entries, name_or_file, &LibraryEntry::name) != entries.end()) return find(name_or_file);
  const std::filesystem::path file(name_or_file);
  if (file.extension() == ".json" || std::filesystem::exists(file)) return parse_file(file);
  return find(name_or_file);
}

std::vector<Schedule> all_sound() {
  std::vector<Schedule> sound;
  for (const LibraryEntry& entry : library()) {
    Schedule schedule = parse_entry(entry);
    if (!schedule.hazardous) sound.push_back(std::move(schedule));
  }
  return sound;
}

}  // namespace interlace::schedule
