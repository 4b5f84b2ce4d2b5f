#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "simulator/allocator/configuration.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/units.hpp"
#include "simulator/memory/steps.hpp"
#include "simulator/memory/stream_uses.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::memory {

/// A place in the host's program: in any instance of a segment.
struct Place {
  std::optional<stages::SegmentKey> segment;  ///< none: the end of an iteration, behind its last stage
  std::uint32_t calls = 0;                    ///< device calls of the segment before it
  std::uint32_t blocks = 0;                   ///< blocks that the segment has made before it

  auto operator<=>(const Place&) const = default;
};

/// Behind all that a segment does.
[[nodiscard]] Place end_of(const stages::SegmentKey& segment);

/// When a block is given back.
struct Release {
  Place place;
  /// How many batches later than the block's own the batch at that place is; an iteration's end has the batch that the
  /// iteration trains.
  std::int32_t batches_later = 0;
  /// Instead of the place: behind all that this run of a step does. Of a recorded release, where it lay there.
  std::optional<StepRun> behind;

  auto operator<=>(const Release&) const = default;
};

/// Blocks of one class are made at the same place for every batch of a kind.
struct BlockClass {
  stages::SegmentKey made_in;
  std::uint32_t ordinal = 0;  ///< among the blocks that the segment makes for one batch
  /// How many these are: a segment may make more for some batches than for others, as one that copies what does not
  /// begin where it should.
  std::uint32_t of = 0;
  /// Of those of some batches that are given back elsewhere than those of others, as what is copied only where it does
  /// not begin where it should: which.
  std::uint32_t variant = 0;

  auto operator<=>(const BlockClass&) const = default;
};

struct ClassHistory {
  std::uint32_t calls = 0;          ///< device calls of its segment before it is made
  Bytes bytes = 0;                  ///< of the largest
  std::optional<Release> released;  ///< as most often seen; none: never
  std::set<StreamUse> uses;         ///< likewise
  bool gradient = false;            ///< of a parameter: let go by autograd when it has been accumulated
};

/// What the caching allocator did for one rank in the recorded iterations, boiled down to what repeats.
struct RecordedMemory {
  std::map<BlockClass, ClassHistory> classes;
  /// Sizes by segment, by batch modulo `batches`, by ordinal; as asked for where the recording tells, else as handed
  /// out.
  std::map<stages::SegmentKey, std::vector<std::vector<Bytes>>> sizes;
  /// Sizes of a class's segment for a batch; null where the segment makes none of this class for it.
  [[nodiscard]] const std::vector<Bytes>* sizes_for(const BlockClass& kind, std::int32_t batch) const;
  /// The variant that each batch has, modulo `batches`, of classes (variant 0) that have several.
  std::map<BlockClass, std::vector<std::uint32_t>> variants;
  /// So many batches were recorded; fewer, where the sizes of those repeat (data that is used in turn). Batches count
  /// from the first of training, if both the recording numbers its iterations and they repeat, else from some other.
  std::int32_t batches = 0;
  bool knows_first_batch = false;  ///< whether they count from the first of training
  /// Allocated before the recorded iterations, or once in them (an optimizer's state), and not given back: block by
  /// block where the recording has a state of the allocator; else the sum of what was there before its first event.
  std::vector<Bytes> persistent;
  /// Beside these, what PyTorch keeps for cuBLAS: made by the first matrix multiplication of forward, then of backward.
  std::vector<Bytes> workspaces;
  /// And the buckets that gradients are reduced in: one for all at first, these from the second forward on
  /// (gradient_buckets.hpp).
  std::vector<Bytes> gradient_buckets;
  stages::Frees frees = stages::Frees::kByOwners;
  bool knows_uses = false;  ///< whether calls of record_stream were recorded
  /// Of the allocator, where the recording has a state of it; else PyTorch's own.
  allocator::Configuration settings;
};

/// The batch that a segment of recorded iteration i works on, less i, under the schedule that was recorded.
[[nodiscard]] std::int32_t batch_offset(const schedule::Schedule& recorded, const stages::SegmentKey& segment);

/// Pairs what the allocator handed out with what it was given back. `recorded` is the schedule that the recording was
/// made under, `frees` when its loop lets go. What a loop over modules lets go as it comes to the next one, it has let
/// go behind the segment before. Counts memory.irregular_iteration, memory.never_released.
[[nodiscard]] RecordedMemory recorded_memory(const trace::Trace& trace, const stages::RankCut& cut,
                                             const schedule::Schedule& recorded, stages::Frees frees,
                                             Diagnostics& diagnostics);

inline constexpr DiagnosticKind kIrregularIteration{
    "memory.irregular_iteration", Severity::kInfo,
    "stage instances that made another number of blocks than the same stage of most batches; they are left out",
    "usual in the first recorded iteration, whose forward is not recorded; else record more steps"};
inline constexpr DiagnosticKind kNeverReleased{"memory.never_released", Severity::kInfo,
                                               "places that make a block for every batch which is never seen given "
                                               "back; it is taken to live as long as its stage's "
                                               "results do under the schedule, or else until the next one is made",
                                               "record more steps"};

}  // namespace interlace::memory
