#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/base/units.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::what_if {

struct SearchOptions {
  replay::PredictOptions predict;  ///< how what is found is predicted
  std::size_t most_tries = 2000;   ///< schedules that are simulated to find it
  /// So many updates late may tables be read, as by schedules that run ahead of them; dense parameters never.
  std::int64_t most_stale = 0;
  bool one_rank = false;            ///< collectives order nothing
  bool feature_processors = false;  ///< see check::CheckOptions
};

/// A schedule that the search came to.
struct Found {
  schedule::Schedule schedule;  ///< free of hazards
  std::string start;            ///< the name of the one that it was made of
  /// What the first start lacks that keeps it free of races, where it is not so itself: made before all changes.
  std::vector<std::string> mends;
  /// What leads to it from the first start, in order, with what keeps each change free of races. That another start is
  /// taken is a change, too.
  std::vector<std::string> changes;
  Nanoseconds step_time = 0;
};

/// How many schedules met which end.
struct SearchCounts {
  std::size_t seen = 0;           ///< well-formed ones, each once
  std::size_t racy = 0;           ///< of these: no wait mends them
  std::size_t other_numbers = 0;  ///< they train something else, or with tables that are too old
  std::size_t not_recorded = 0;   ///< they run a stage, or a part of one, that the recording cannot tell of
  std::size_t repeated = 0;       ///< with their waits they are what another one is
  std::size_t simulated = 0;
  std::size_t not_tried = 0;  ///< the rest, when the tries were used up
};

struct SearchResult {
  /// The first start as it is given, with the races that it may have; none where it cannot be simulated, where no wait
  /// mends it, or where it trains other numbers.
  std::optional<Found> first;
  /// Faster ones: of each number of changes the fastest, where each further change gains what it is worth. Fastest
  /// first.
  std::vector<Found> found;
  SearchCounts counts;
};

/// Looks for schedules that take less time than some that are known, and train the same.
///
/// From each schedule lead moves (moves.hpp). What they leave racy gets the smallest waits that mend it
/// (check/repairs.hpp); what stays so, or reads something too late, is dropped. The others are simulated, in few steps,
/// and those that are fastest are moved on from, a few a round. It ends where some rounds in a row have gained nothing,
/// or with the tries. Then the best are predicted in full, with other seeds than they were chosen by: of many that are
/// much the same the luckiest comes first, and that luck must not count.
///
/// The result depends on what is given alone, not on how many threads there are. tell: told after each round of the
/// schedules simulated so far, and of the best step time. Throws as Predictor::predict does, but for stages that were
/// not recorded.
[[nodiscard]] SearchResult search(std::span<const schedule::Schedule> starts, const replay::Predictor& predictor,
                                  const SearchOptions& options,
                                  const std::function<void(std::size_t simulated, Nanoseconds best)>& tell);

}  // namespace interlace::what_if
