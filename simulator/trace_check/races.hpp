#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/check/conflicts.hpp"
#include "simulator/trace_check/accesses.hpp"
#include "simulator/trace_check/order.hpp"

namespace interlace::trace_check {

/// Two pieces of device work that touch the same and that nothing but their times kept apart.
struct Race {
  check::HazardKind kind = check::HazardKind::kReadBeforeWrite;
  DatumKey datum;
  trace::OperationId earlier;  ///< the last of its stage that was launched before `later`
  trace::OperationId later;
  std::uint32_t earlier_run = 0;  ///< of StagedWork
  std::uint32_t later_run = 0;
  /// From the end of the earlier to the start of the later: by so much it went well; negative: it did not.
  Nanoseconds margin = 0;
  bool may_be_waited_for = false;  ///< by the host, with a wait of which it is not told what for
};

/// All of one rank. Of work within one stage and batch only the inputs of its collectives are looked at: what else it
/// touches is not told apart.
[[nodiscard]] std::vector<Race> find_races(const trace::Trace& trace, const StagedWork& staged,
                                           const Accesses& accesses, const graph::StreamQueues& queues,
                                           const RecordedOrder& order);

}  // namespace interlace::trace_check
