#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simulator/graph/stream_queues.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/trace_check/staged_work.hpp"

namespace interlace::trace_check {

/// Device work of one run of a stage on one stream, in the order in which it was launched, that touches the same.
struct AccessGroup {
  std::uint32_t run = 0;  ///< of StagedWork
  trace::LaneId stream;
  bool collective = false;
  std::vector<trace::OperationId> work;
};

/// The last work of the group that was queued by then.
[[nodiscard]] std::optional<trace::OperationId> last_queued(const AccessGroup& group, const graph::StreamQueues& queues,
                                                            Nanoseconds time);

/// Reads or writes of one resource of one batch (or that lives through the training), by the launch of their work.
struct Touch {
  std::uint32_t group = 0;
  std::optional<std::uint32_t> module;  ///< none: of all modules
  bool reads = false;
  bool writes = false;
};

/// Whether two may be about the same module; none stands for all.
[[nodiscard]] constexpr bool meet(std::optional<std::uint32_t> a, std::optional<std::uint32_t> b) {
  return !a || !b || *a == *b;
}

struct DatumKey {
  schedule::Resource resource = schedule::Resource::kBatch;
  std::optional<std::int64_t> batch;  ///< none: it lives through the training

  auto operator<=>(const DatumKey&) const = default;
};

struct AccessOptions {
  /// The lookup weighs features by learnt weights: it reads what the optimizer writes.
  bool feature_processors = false;
};

/// Who touches what on one rank. What a stage reads and writes is the schedule language's; of backward, work on the
/// streams of lookups updates tables, where the pieces are not told.
struct Accesses {
  std::vector<AccessGroup> groups;
  std::map<DatumKey, std::vector<Touch>> data;  ///< touches by the first launch of their group
  std::int64_t checked = 0;                     ///< pieces of device work whose accesses are known
  std::int64_t unchecked = 0;                   ///< and those in no stage, or in one that says nothing of them
};

[[nodiscard]] Accesses find_accesses(const trace::Trace& trace, const StagedWork& staged,
                                     const graph::StreamQueues& queues, trace::RankId rank,
                                     const AccessOptions& options);

}  // namespace interlace::trace_check
