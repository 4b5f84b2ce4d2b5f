#include "simulator/ingest/same_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/kineto/flaws.hpp"

namespace interlace::ingest {

namespace {

constexpr const char* kOneRunAdvice = "name files of one run and one profiled window, one a rank";

[[noreturn]] void different(const RankFacts& a, const RankFacts& b, const std::string& what) {
  throw Error(kRanksOfDifferentRuns, fmt::format("{}, {}", a.file.string(), b.file.string()), what, kOneRunAdvice);
}

void check_facts(const RankFacts& a, const RankFacts& b) {
  if (a.world_size && b.world_size && *a.world_size != *b.world_size) {
    different(a, b, fmt::format("one is of a job of {} ranks, the other of {}", *a.world_size, *b.world_size));
  }
  if (!a.group_of_all.empty() && !b.group_of_all.empty() && a.group_of_all != b.group_of_all) {
    different(a, b,
              fmt::format("their default process groups differ: ranks {} and ranks {}", fmt::join(a.group_of_all, " "),
                          fmt::join(b.group_of_all, " ")));
  }
  // Of one recording a process may lack what others have, as the driver's profiler.
  const bool is_of_one_recording = !a.run_id.empty() && a.run_id == b.run_id;
  if (a.producer != b.producer && !is_of_one_recording) {
    different(a, b, fmt::format("they were recorded by different software: {} and {}", a.producer, b.producer));
  }
}

/// Files of one host, or of unknown ones, that do not say that they are of one recording.
void check_windows(std::span<const RankFacts> files) {
  const RankFacts& any = files.front();
  const auto is_of_same = [&](const RankFacts& file) { return file.run_id == any.run_id; };
  if (!any.run_id.empty() && std::ranges::all_of(files, is_of_same)) return;
  const RankFacts* last_to_begin = nullptr;
  const RankFacts* first_to_end = nullptr;
  for (const RankFacts& file : files) {
    if (!file.window) continue;
    if (file.host_name != any.host_name) return;
    if (last_to_begin == nullptr || file.window->begin > last_to_begin->window->begin) last_to_begin = &file;
    if (first_to_end == nullptr || file.window->end < first_to_end->window->end) first_to_end = &file;
  }
  if (last_to_begin == nullptr || last_to_begin->window->begin <= first_to_end->window->end) return;
  const Nanoseconds gap = last_to_begin->window->begin - first_to_end->window->end;
  different(*first_to_end, *last_to_begin,
            fmt::format("the second began {}.{:03} ms after the first had ended, so no moment was recorded by both",
                        gap / kMillisecond, gap % kMillisecond / kMicrosecond));
}

/// Files that do not tell their ranks may be one file given twice.
void check_copies(std::span<const RankFacts> files) {
  for (std::size_t a = 0; a < files.size(); ++a) {
    for (std::size_t b = a + 1; b < files.size(); ++b) {
      if (files[a].rank && files[b].rank) continue;
      if (files[a].window != files[b].window) continue;
      if (files[a].parts && files[b].parts && *files[a].parts != *files[b].parts) continue;
      throw Error(kDuplicateRank, fmt::format("{}, {}", files[a].file.string(), files[b].file.string()),
                  "both begin and end in the same nanosecond: they are one recording", kOneRunAdvice);
    }
  }
}

/// "1, 2, 5".
std::string missing_of(std::int32_t world_size, const std::set<std::int32_t>& present) {
  static constexpr std::size_t kNamed = 16;
  std::vector<std::int32_t> missing;
  for (std::int32_t rank = 0; rank < world_size && missing.size() < kNamed; ++rank) {
    if (!present.contains(rank)) missing.push_back(rank);
  }
  const bool more = static_cast<std::size_t>(world_size) - present.size() > missing.size();
  return fmt::format("{}{}", fmt::join(missing, ", "), more ? ", ..." : "");
}

void count_missing(std::span<const RankFacts> files, const std::set<std::int32_t>& present, Diagnostics& diagnostics) {
  const auto told = std::ranges::find_if(files, [](const RankFacts& file) { return file.world_size.has_value(); });
  if (told == files.end()) return;
  const std::int32_t world_size = *told->world_size;
  const auto inside = std::ranges::count_if(present, [&](std::int32_t rank) { return rank < world_size; });
  if (inside >= world_size) return;
  diagnostics.count(kMissingRanks, fmt::format("of {} ranks missing: {}", world_size, missing_of(world_size, present)),
                    world_size - inside);
}

}  // namespace

std::vector<std::int32_t> number_ranks(std::span<const RankFacts> files, Diagnostics& diagnostics) {
  std::map<std::int32_t, const RankFacts*> told;
  std::set<std::string> hosts;
  for (const RankFacts& file : files) {
    check_facts(files.front(), file);
    if (!file.host_name.empty()) hosts.insert(file.host_name);
    if (!file.rank) continue;
    const auto [other, is_new] = told.try_emplace(*file.rank, &file);
    if (!is_new) {
      throw Error(kDuplicateRank, fmt::format("{}, {}", other->second->file.string(), file.file.string()),
                  fmt::format("both are rank {}", *file.rank), kOneRunAdvice);
    }
    if (file.world_size && *file.rank >= *file.world_size) {
      diagnostics.count(kineto::kRankOutsideWorld, file.file.string());
    }
  }
  check_copies(files);
  check_windows(files);
  if (hosts.size() > 1) {
    diagnostics.count(kSeveralHosts, *hosts.begin(), static_cast<std::int64_t>(hosts.size()) - 1);
  }

  std::vector<std::int32_t> numbers;
  std::set<std::int32_t> present;
  for (const auto& [rank, file] : told) present.insert(rank);
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto number = files[i].rank.value_or(static_cast<std::int32_t>(i));
    while (!files[i].rank && present.contains(number)) ++number;
    present.insert(number);
    numbers.push_back(number);
  }
  count_missing(files, present, diagnostics);
  return numbers;
}

bool is_found_by_number_ranks(std::string_view code) {
  return code == kMissingRanks.code || code == kRanksByOrder.code || code == kSeveralHosts.code ||
         code == kineto::kRankOutsideWorld.code;
}

}  // namespace interlace::ingest
