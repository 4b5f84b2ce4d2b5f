#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// How many operations of each kind a trace holds, by OperationKind.
[[nodiscard]] std::array<std::int64_t, trace::kOperationKinds> count_operations(const trace::Trace& trace);

/// The kernels of one name (collectives are not among them).
struct KernelTally {
  std::string name;
  std::int64_t count = 0;
  Nanoseconds total_ns = 0;
  Nanoseconds shortest_ns = 0;
  Nanoseconds longest_ns = 0;

  bool operator==(const KernelTally&) const = default;
};

/// The `at_most` names with the most time in the whole trace, all ranks together; largest first, ties by name.
[[nodiscard]] std::vector<KernelTally> top_kernels(const trace::Trace& trace, std::size_t at_most);

/// The collectives of one kind over all ranks and the whole trace.
struct CollectiveTally {
  trace::CollectiveFunction function = trace::CollectiveFunction::kUnknown;
  std::string name;             ///< as recorded ("all_to_allv"); the kernel's where that was not
  std::string dtype;            ///< "" where not recorded
  std::int32_t group_size = 0;  ///< 0 where not recorded
  std::int64_t count = 0;
  Bytes in_bytes = 0;  ///< sum over the calls; 0 where the recording does not tell
  Bytes out_bytes = 0;
  Nanoseconds total_ns = 0;        ///< waiting for peers included
  std::int32_t most_channels = 0;  ///< of any; 0 where not recorded
  std::int64_t with_buffers = 0;   ///< calls of which it is recorded where their data lies

  bool operator==(const CollectiveTally&) const = default;
};

/// Largest time first.
[[nodiscard]] std::vector<CollectiveTally> tally_collectives(const trace::Trace& trace);

/// What the program said of operations beside their names.
struct NoteTally {
  std::int64_t payloads = 0;                                     ///< ranges and marks with a number
  std::int64_t open_ranges = 0;                                  ///< whose end is not known
  std::int64_t externals = 0;                                    ///< calls with an id of the program's own
  std::vector<std::pair<std::string, std::int64_t>> categories;  ///< of ranges and marks, with how many; by name

  bool operator==(const NoteTally&) const = default;
};

[[nodiscard]] NoteTally tally_notes(const trace::Trace& trace);

}  // namespace interlace::analysis
