#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulator/base/id.hpp"

namespace interlace::schedule {

/// What a step of a training iteration does. docs/schedule_language.md says what each reads, writes and blocks on.
enum class Stage : std::uint8_t {
  kNextBatch,        ///< host only: the data loader hands over a batch
  kCopyBatchToGpu,   ///< host to device copies of one batch
  kInputDistStart,   ///< permute the jagged input, exchange splits (all-to-all of sizes)
  kInputDistWait,    ///< host reads the splits, issues the all-to-alls of lengths, values, weights
  kInputDistFinish,  ///< wait for these, recat; host reads the lengths
  kEmbeddingLookup,
  kOutputDistStart,  ///< issue the all-to-all (or reduce-scatter) of pooled embeddings
  kOutputDistWait,   ///< wait for it, assemble
  kDataParallelLookup,
  kDenseForward,
  kBackward,       ///< whole, or one Part
  kOptimizerStep,  ///< dense parameters; tables are updated inside backward
  kZeroGrad,
  kValidateOutput,  ///< copy a result to the host and read it there
  kPrefetch,        ///< fill the embedding cache
  kFeatureProcessor,
  kCompute,   ///< any device work that fits none of the above
  kAllToAll,  ///< an all-to-all on its own
};
inline constexpr std::size_t kStages = 18;

/// The word of the schedule language, e.g. "embedding_lookup".
[[nodiscard]] std::string_view to_string(Stage stage);
[[nodiscard]] std::optional<Stage> stage_named(std::string_view word);

/// A piece of backward that a schedule may place on its own.
enum class Part : std::uint8_t {
  kDense,      ///< gradients of the dense arches, and their all-reduce
  kEmbedding,  ///< gradient all-to-all and the fused table update
};
[[nodiscard]] std::string_view to_string(Part part);
[[nodiscard]] std::optional<Part> part_named(std::string_view word);

/// How validate_output makes sure that the copy has arrived before the host reads it.
enum class ValidateMode : std::uint8_t { kBlocking, kEvent, kUnsafe };
[[nodiscard]] std::string_view to_string(ValidateMode mode);
[[nodiscard]] std::optional<ValidateMode> validate_mode_named(std::string_view word);

/// How long the program refers to what a step has made: until a later stage of the batch has been queued, or until the
/// iteration ends that trains the batch.
struct KeptUntil {
  std::optional<Stage> stage;  ///< none: the end of the iteration

  bool operator==(const KeptUntil&) const = default;
};
/// "iteration_end", or a stage's word.
[[nodiscard]] std::string_view to_string(KeptUntil kept);
[[nodiscard]] std::optional<KeptUntil> kept_until_named(std::string_view word);

using StreamIndex = Id<struct ScheduleStreamTag>;  ///< position in Schedule::streams

struct Stream {
  std::string name;
  std::int32_t priority = 0;           ///< CUDA's: lower is more urgent
  std::optional<StreamIndex> same_as;  ///< another name for that stream

  bool operator==(const Stream&) const = default;
};

/// The farthest batch ahead of the iteration that a step may name.
inline constexpr std::int32_t kMaxBatch = 15;

/// "i", "i+2", "i-1": a batch as seen from an iteration.
[[nodiscard]] std::string batch_word(std::int64_t batch);

/// Runs a stage of batch (iteration + batch) on a stream.
struct StageStep {
  Stage stage = Stage::kCompute;
  std::int32_t batch = 0;
  StreamIndex stream;
  std::vector<StreamIndex> after;  ///< first makes `stream` wait for all that is queued on these so far
  std::optional<std::string>
      module;  ///< one sharded module; none: all modules of the stage (or the current one of for_each)
  std::optional<std::uint32_t> module_number;  ///< of `module` in a recording (stages::bound_to); in no file
  std::optional<Part> part;                    ///< only for kBackward
  std::optional<StreamIndex> alloc;            ///< stream whose memory pool the results come from; none: `stream`
  std::vector<StreamIndex> record_stream;      ///< streams on which the results are kept alive
  std::optional<KeptUntil> kept_until;         ///< none: until the last stage that reads the results
  std::optional<ValidateMode> mode;            ///< only for kValidateOutput
  bool async = false;                          ///< only for kAllToAll: the host goes on, `wait` on its event joins
  std::optional<std::string> record;           ///< event recorded behind the stage (kAllToAll: behind the collective)
  std::vector<std::string> reads;              ///< named data of the batch that the stage reads beside its own effects
  std::vector<std::string> writes;             ///< named data of the batch that it makes beside its own effects
  std::vector<std::string> frees;  ///< data whose memory the host gives back right behind the stage's launch

  bool operator==(const StageStep&) const = default;
};

/// Makes `waiter` (a stream, or the host) wait for all queued so far on a stream, or for an event.
struct WaitStep {
  std::variant<StreamIndex, std::string> source;  ///< a stream, or the name of an event
  std::optional<StreamIndex> waiter;              ///< none: the host waits
  std::int32_t event_batch = 0;                   ///< events only: recorded for batch (iteration + event_batch)

  bool operator==(const WaitStep&) const = default;
};

/// Records a named event behind all that is queued on a stream.
struct RecordStep {
  std::string event;
  StreamIndex stream;

  bool operator==(const RecordStep&) const = default;
};

struct Step;

/// Runs its steps once a sharded module, in the order in which the model calls them.
struct ForEachModule {
  std::vector<Step> steps;  ///< stage, wait and record steps; no nesting

  bool operator==(const ForEachModule&) const = default;
};

/// One line of a schedule, in host program order.
struct Step {
  std::variant<StageStep, WaitStep, RecordStep, ForEachModule> action;
  int line = 0;  ///< of the file it was read from, 1-based; 0 where it was made by hand

  friend bool operator==(const Step& a, const Step& b) { return a.action == b.action; }
};

/// A hazard that is known and left as it is: the pipeline that the schedule copies has it.
struct KnownHazard {
  std::string kind;  ///< as interlace check names it, e.g. "free_before_last_use"
  std::string of;    ///< what is clashed over: a resource, or a name of the schedule's own
  std::string why;   ///< why it stays
  // Between which stages; none: whichever they are.
  std::optional<Stage> earlier;
  std::optional<Stage> later;

  bool operator==(const KnownHazard&) const = default;
};

/// A training pipeline as data: what the host enqueues in one steady-state iteration i. Prologue and drain follow from
/// the batch offsets. Streams hold "main" always; see docs/schedule_language.md.
struct Schedule {
  std::string name;
  std::string description;
  std::string source;      ///< file or "built-in"
  bool hazardous = false;  ///< a known race, kept as a specimen; left out of "all"
  std::vector<KnownHazard> known_hazards;
  std::string caution;  ///< what may go wrong in code that it stands for, though it is sound itself
  std::vector<Stream> streams;
  std::vector<Step> iteration;

  [[nodiscard]] std::optional<StreamIndex> stream_named(std::string_view name) const;
  /// Follows same_as to the stream that work really lands on.
  [[nodiscard]] StreamIndex resolve(StreamIndex stream) const;
  [[nodiscard]] const Stream& stream(StreamIndex index) const { return streams[index.index()]; }

  bool operator==(const Schedule&) const = default;
};

/// Do both enqueue the same, on the same streams and in the same order? Whatever they are called.
[[nodiscard]] inline bool same_pipeline(const Schedule& a, const Schedule& b) {
  return a.streams == b.streams && a.iteration == b.iteration;
}

}  // namespace interlace::schedule
