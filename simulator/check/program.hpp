#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/id.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::check {

using LaneIndex = Id<struct ProgramLaneTag>;            ///< position in Program::lanes
using OperationIndex = Id<struct ProgramOperationTag>;  ///< position in Program::operations
using DatumIndex = Id<struct DatumTag>;                 ///< position in Program::data
using BufferIndex = Id<struct BufferTag>;               ///< position in Program::buffers
using StageIndex = Id<struct StageTag>;                 ///< position in Program::stages
using MarkIndex = Id<struct MarkTag>;                   ///< a point in a lane, as a CUDA event marks it

/// Something that runs what it is given one by one, in order.
struct Lane {
  enum class Kind : std::uint8_t { kHost, kStream, kCollectives };
  Kind kind = Kind::kStream;
  std::string name;
};

/// One thing that is read and written: a resource, or what a schedule names itself.
struct Datum {
  std::optional<schedule::Resource> resource;
  std::string name;                     ///< as messages write it
  std::optional<std::int64_t> batch;    ///< none: it lives through the training
  std::optional<std::uint32_t> module;  ///< position in Program::modules
  bool on_host = false;

  auto operator<=>(const Datum&) const = default;
};

struct Access {
  DatumIndex datum;
  bool writes = false;
  bool locked = false;  ///< see schedule::Read
};

/// What an operation is within its stage.
enum class Role : std::uint8_t {
  kWork,          ///< the kernels or copies that the stage is about
  kCollective,    ///< on the lane of collectives
  kTableUpdate,   ///< of backward, on the stream of the lookup
  kSideGradient,  ///< of backward, on the stream of a data-parallel lookup or feature processor
  kHostRead,      ///< of validate_output: the host reads the copy
};

/// The smallest thing that is ordered: reads all it reads, then writes all it writes.
struct Operation {
  LaneIndex lane;
  StageIndex stage;
  Role role = Role::kWork;
  std::int64_t iteration = 0;
  std::int64_t batch = 0;
  std::optional<std::uint32_t> module;
  std::vector<Access> accesses;
  std::optional<LaneIndex> pool;  ///< the stream whose memory the results are made in; none: nothing is taken
};

/// A piece of device memory that holds a datum from one writer to the next, or until it is freed.
struct Buffer {
  DatumIndex datum;
  std::optional<OperationIndex> maker;  ///< none: it was there before the first iteration
  LaneIndex pool;
  std::vector<LaneIndex> recorded;      ///< record_stream, other streams than the pool's
  std::vector<OperationIndex> uses;     ///< without collectives that hold it to their end
  std::vector<MarkIndex> marks;         ///< on the recorded lanes, at the free
  std::optional<StageIndex> freed_by;   ///< "frees"; none: let go when nothing will use it any more
  std::optional<std::size_t> freed_at;  ///< position in Program::instructions
};

/// What the host does, in its order.
struct Instruction {
  enum class Kind : std::uint8_t {
    kRun,   ///< launch (or, on the host's own lane, do) `operation`
    kMark,  ///< put `mark` behind all that `lane` has
    kWait,  ///< `lane` goes on behind `mark` only
    kFree,  ///< give `buffer` back
  };
  /// Why there is a wait.
  enum class Cause : std::uint8_t {
    kWritten,    ///< a step of the schedule says so
    kInherent,   ///< the stage cannot do otherwise: a collective's input, its result, what autograd joins
    kStageRead,  ///< the host reads a small result inside a stage; it need not, where it knows the result already
  };
  Kind kind = Kind::kRun;
  Cause cause = Cause::kWritten;
  OperationIndex operation;
  LaneIndex lane;
  MarkIndex mark;
  BufferIndex buffer;
  std::int64_t iteration = 0;
};

/// A read of something whose memory was freed by name before.
struct ReadAfterFree {
  OperationIndex read;
  BufferIndex buffer;
};

/// A schedule run for some batches: all that the host does, from the first copy to the last optimizer step. It names
/// steps of the schedule, which must outlive it.
struct Program {
  const schedule::Schedule* schedule = nullptr;
  std::int64_t depth = 0;
  std::int64_t batches = 0;
  std::vector<Lane> lanes;  ///< the host, the real streams of the schedule, the collectives
  std::vector<schedule::PlacedStep> stages;
  std::vector<std::string> modules;  ///< sharded modules; without a name where the schedule names none
  std::vector<Datum> data;
  std::vector<Operation> operations;
  std::vector<Buffer> buffers;
  std::vector<Instruction> instructions;
  std::vector<ReadAfterFree> reads_after_free;
  std::uint32_t marks = 0;
  LaneIndex main;  ///< the lane of "main"

  static constexpr LaneIndex kHost{0};
  [[nodiscard]] LaneIndex collectives() const { return {static_cast<std::uint32_t>(lanes.size() - 1)}; }
  [[nodiscard]] const Operation& operation(OperationIndex index) const { return operations[index.index()]; }
  [[nodiscard]] const Buffer& buffer(BufferIndex index) const { return buffers[index.index()]; }
  [[nodiscard]] const schedule::StageStep& stage(StageIndex index) const {
    return std::get<schedule::StageStep>(stages[index.index()].step->action);
  }
  /// Whether all stages run in this iteration.
  [[nodiscard]] bool steady(std::int64_t iteration) const { return iteration >= 0 && iteration < batches - depth; }
};

struct UnrollOptions {
  std::int64_t batches = 8;
  /// The model weighs features by learnt weights inside the lookup, so that it reads dense parameters.
  bool feature_processors = false;
  /// False: one rank, whose exchanges are copies on the stream that asks for them and order nothing else.
  bool collectives = true;
  /// Sharded modules of a schedule that names none: two, so that what goes wrong between modules is seen.
  std::size_t unnamed_modules = 2;
};

/// Runs a well-formed schedule. Each stage becomes the operations that docs/check.md lists.
[[nodiscard]] Program unroll(const schedule::Schedule& schedule, const UnrollOptions& options);

}  // namespace interlace::check
