#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "simulator/check/happens_before.hpp"
#include "simulator/check/program.hpp"

namespace interlace::check {

/// Ways in which a schedule is wrong, whatever the timing was so far.
enum class HazardKind : std::uint8_t {
  kReadBeforeWrite,     ///< what is read may not be written yet
  kWriteWhileRead,      ///< what is read may be overwritten already
  kUnorderedWrites,     ///< either of two writes may be the last
  kFreeBeforeLastUse,   ///< memory may be handed out again while another stream still uses it
  kReadAfterFree,       ///< memory is read that was freed by name
  kMemoryStillInUse,    ///< memory from another stream's pool is written while that stream may still use it
  kUnfinishedHostRead,  ///< the host reads a copy that may not have arrived
  kCollectiveOrder,     ///< ranks issue different collectives
  kDeadlock,            ///< a rank waits for a collective that another never issues
};
/// "read_before_write".
[[nodiscard]] std::string_view to_string(HazardKind kind);

/// What the two sides of a hazard do: {"writes", "reads"}.
struct Verbs {
  std::string_view earlier;
  std::string_view later;
};
[[nodiscard]] Verbs verbs_of(HazardKind kind);

/// Two operations of which the second must wait for the first and need not.
struct Conflict {
  HazardKind kind = HazardKind::kReadBeforeWrite;
  OperationIndex earlier;  ///< in the order of the host
  OperationIndex later;
  DatumIndex datum;                   ///< what they clash over; of reused memory: what it held
  std::optional<BufferIndex> buffer;  ///< of reused memory
};

/// All pairs of accesses to one datum, at least one of them a write, that nothing orders.
[[nodiscard]] std::vector<Conflict> unordered_accesses(const Program& program, const HappensBefore& order);

/// All uses of memory that the next operation to be given memory of that pool does not wait for, and reads of memory
/// that was freed by name. record_stream keeps what it names.
[[nodiscard]] std::vector<Conflict> lifetime_conflicts(const Program& program, const HappensBefore& order);

/// Operations that write memory of another stream's pool without being behind all that the stream was given: that may
/// still use what was freed there. (The pool itself only knows the order of its own stream.)
[[nodiscard]] std::vector<Conflict> pool_conflicts(const Program& program, const HappensBefore& order);

}  // namespace interlace::check
