#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simulator/memory/recorded_memory.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::memory {

/// What becomes of the blocks of a class under a schedule.
struct Fate {
  Place made;
  BlockClass size_of;  ///< the recorded class whose sizes it has
  /// Who refers to the block; it is given back when the last of them has let go.
  std::vector<Release> holders;
  std::optional<schedule::StreamIndex> pool;   ///< none: the stream that its segment runs on
  std::vector<schedule::StreamIndex> used_on;  ///< record_stream: streams that a free waits for
};

/// The blocks of each segment in the order in which it makes them.
using Lifetimes = std::map<stages::SegmentKey, std::vector<Fate>>;

/// Where the blocks of a recording go when another schedule runs the same stages.
///
/// A block moves with the segment that makes it. It is given back where it was in the recording, relative to its batch,
/// but for these, which depend on the schedule:
///  1. What a stage leaves for later ones (copied batches, exchanged input, pooled embeddings) lives as long as the
///     schedule's `kept_until` says, or until the last stage that reads it. Where both schedules say the same, the
///     recorded place is kept, since it is finer than a stage. Pooled embeddings are results of output_dist_wait also
///     where output_dist_start makes them and nothing is left to rearrange: a reduce-scatter's, of row-wise tables.
///  2. A block that is replaced by its successor when the segment runs for the next batch (what the lookup keeps of its
///     input) is needed by autograd until the update of its own batch, too: the later of the two counts.
///  3. Gradients of zero_grad's kind live until the next zero_grad, whatever its batch.
///  4. Autograd passes the gradient of a pooled embedding on and makes it contiguous for the exchange. A backward in
///     two parts ends the first at the pooled embeddings: there the contiguous gradient is made, kept as their .grad
///     until the iteration ends, and what it was a view of is given back. A backward in one part keeps it until it has
///     been rearranged for the exchange (at once where all of it is, as of column-wise tables) or, where it is sent as
///     it is, until that is awaited.
/// Where the recorded loop lets go behind the last use (stages::Frees), none of these holds: what it let go behind a
/// later step than the one that made it, since the schedule's release point of some resource lies there, it lets go at
/// the wanted schedule's; what behind the step itself, there.
/// The memory of a step's results comes from its `alloc` stream, and `record_stream` delays their reuse.
[[nodiscard]] Lifetimes lifetimes(const RecordedMemory& memory, const schedule::Schedule& recorded,
                                  const schedule::Schedule& wanted);

}  // namespace interlace::memory
