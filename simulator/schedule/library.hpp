#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// One built-in schedule: a file of simulator/schedule/library/, compiled in.
struct LibraryEntry {
  std::string_view name;  ///< path without ".json", equal to the schedule's own name, e.g. "torchrec/sparse_dist"
  std::string_view text;  ///< the file
};

/// The built-in schedules, folder by folder, those of a pipeline family from the plainest to the most overlapped.
[[nodiscard]] std::span<const LibraryEntry> library();

[[nodiscard]] bool is_built_in(std::string_view name);

/// Schedule::source of the built-in schedule of this name.
[[nodiscard]] std::string built_in_source(std::string_view name);

/// The one of `entries` that a user means by this name: by all of it, or by its last part ("sparse_dist" for
/// "torchrec/sparse_dist") where no other ends in that; none where none does or several do.
[[nodiscard]] std::optional<std::string_view> full_name(std::string_view name, std::span<const LibraryEntry> entries);

/// A built-in schedule, by its full name or its last part. Throws Error schedule.no_such_schedule, with the names most
/// like it.
[[nodiscard]] Schedule find(std::string_view name);

/// What a user may name on a command line: a built-in schedule, or a file (anything that ends in ".json" or exists; it
/// goes before a last part of a name, a folder does not). Throws as find() and parse_file() do.
[[nodiscard]] Schedule load(std::string_view name_or_file);

/// The name of a file's schedule where another one is called the same: with that of its file, "torchrec/staged+mine".
[[nodiscard]] std::string name_with_file(std::string_view name, std::string_view file);

/// load(), for a place where schedules stand beside each other by name: what is called as a built-in schedule or one of
/// `others` is, and does something else, is called name_with_file(), with a number where that is another's, too.
[[nodiscard]] Schedule load_beside(std::string_view name_or_file, std::span<const Schedule> others);

/// The built-in schedules that are no specimen of a hazard: what `--schedule all` means.
[[nodiscard]] std::vector<Schedule> all_sound();

/// One of the schedules that a user asks for.
struct AskedSchedule {
  Schedule schedule;
  bool by_name = true;  ///< false: through "all" only, so that it may be left out
};

/// What a list of names, files and "all" asks for, in its order and each once, called as load_beside() calls them.
/// Throws as load() does.
[[nodiscard]] std::vector<AskedSchedule> asked_schedules(std::span<const std::string> wanted);

}  // namespace interlace::schedule
