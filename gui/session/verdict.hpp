#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/check/schedule_check.hpp"
#include "simulator/schedule/problem.hpp"

namespace interlace::gui {

/// How grave a remark about a line of a schedule is.
enum class Gravity : std::uint8_t {
  kNote,     ///< what the verdict relies on
  kHint,     ///< a wait that is not needed, overlap that is lost
  kNumbers,  ///< computes other numbers than a synchronous loop
  kKnown,    ///< a hazard that the schedule says it has
  kHazard,   ///< can go wrong, depending on timing
  kWrong,    ///< cannot run at all
};

struct Remark {
  Gravity gravity = Gravity::kHint;
  int line = 0;  ///< of the schedule; 0: as a whole
  std::string text;
};

/// What can be said of a schedule without running it. Lines are rows of a Draft.
struct Verdict {
  std::vector<Remark> remarks;    ///< by line
  bool can_run = false;           ///< free of kWrong
  std::size_t known_hazards = 0;  ///< a remark on each of their lines
  std::optional<schedule::Schedule> repaired;

  [[nodiscard]] std::size_t count(Gravity gravity) const;
  /// Lines with such remarks; one may have several.
  [[nodiscard]] std::size_t count_lines(Gravity gravity) const;
};

using VerdictPtr = std::shared_ptr<const Verdict>;

/// Form first, as the reader of files demands it; what is well-formed is checked for races, for other numbers than a
/// synchronous loop's and for needless waits (simulator/check). one_rank: as it runs in a job of one, whose exchanges
/// order nothing.
[[nodiscard]] Verdict verdict_of(const schedule::Schedule& schedule, bool one_rank = false);

}  // namespace interlace::gui
