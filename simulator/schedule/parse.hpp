#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/problem.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// The version of the language that this reader knows: the value of "interlace_schedule".
inline constexpr int kLanguageVersion = 1;
/// Bytes of a name.
inline constexpr std::size_t kLongestName = 128;

/// Reads a schedule and checks it with find_problems(). `source` names the text in messages and becomes
/// Schedule::source. Throws InvalidSchedule with all that is wrong, each with its line.
[[nodiscard]] Schedule parse(std::string_view text, const std::string& source);

/// The same for a file; throws Error schedule.unreadable where it cannot be read or is larger than 1 MiB.
[[nodiscard]] Schedule parse_file(const std::filesystem::path& file);

/// What read_words() made of a text.
struct ReadSchedule {
  Schedule schedule;
  std::vector<Problem> problems;
  /// No step was lost and every word that the order of the stages hangs on was understood (or could be guessed from a
  /// near miss), so that find_problems() makes sense in spite of `problems`.
  bool complete = false;
};

/// The first half of parse(): words, names and values, without the checks of find_problems().
[[nodiscard]] ReadSchedule read_words(std::string_view text, const std::string& source);

}  // namespace interlace::schedule
