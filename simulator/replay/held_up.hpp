#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// One meeting of the ranks in a collective: from the arrival of the last one to the last end.
struct RecordedExchange {
  trace::CollectiveFunction function = trace::CollectiveFunction::kUnknown;
  Bytes bytes = 0;
  Interval span;
  contention::LostToMemory usual;  ///< what such a collective loses where nothing better is known
};

/// The kernels of one name that use up the bandwidth of memory.
struct HungryKernel {
  contention::Bound bound = contention::Bound::kStreaming;
  IntervalSet busy;  ///< when one of them ran, on any rank
};

using HungryKernels = std::map<std::string, HungryKernel, std::less<>>;  ///< by name

[[nodiscard]] HungryKernels hungry_kernels(const trace::Trace& trace);

/// Part of its pace that a collective loses beside a kernel, by the kernel's name, as the recording shows it.
using LostBeside = std::map<std::string, double, std::less<>>;

/// Learns it from exchanges of equal function and size, which take equally long by themselves wherever they stand:
/// where at least two of them had no kernel beside them that uses up memory, and at least two others a kernel of one
/// name for half of their time. Not of jagged exchanges, whose pace depends on their batch.
[[nodiscard]] LostBeside learn_lost_beside(const HungryKernels& kernels, std::span<const RecordedExchange> exchanges);

/// When collectives of one kind were held up. A collective goes at the pace of its slowest rank, so kernels of all
/// ranks count; where several hold it up at once only the strongest does.
class CollectivesHeldUp {
 public:
  /// `usual`: for kernels of which `seen` tells nothing. `copies`: when host copies ran, on any rank; a collective
  /// loses `to_host_copies` of each nanosecond to them.
  CollectivesHeldUp(const HungryKernels& kernels, const contention::LostToMemory& usual, const LostBeside& seen,
                    const IntervalSet& copies, double to_host_copies);

  /// Time that a collective lost in `span`.
  [[nodiscard]] double lost(Interval span) const;

 private:
  std::map<double, IntervalSet, std::greater<>> by_loss_;  ///< by the part that is lost, of each instant the largest
};

}  // namespace interlace::replay
