#include "simulator/check/conflicts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace interlace::check {

namespace {

constexpr std::array<std::string_view, 9> kWords = {
    "read_before_write",
    "write_while_read",
    "unordered_writes",
    "free_before_last_use",
    "read_after_free",
    "memory_still_in_use",
    "host_read_of_unfinished_copy",
    "collective_order",
    "deadlock",
};

/// How one operation touches a datum, apart from what it locks, which clashes with nothing.
struct Touches {
  OperationIndex operation;
  bool reads = false;
  bool writes = false;
};

/// The kind of a clash of two touches that nothing orders; none where they may come in any order.
std::optional<HazardKind> clash(const Program& program, const Touches& earlier, const Touches& later) {
  if (earlier.writes && later.reads) {
    return program.operation(later.operation).role == Role::kHostRead ? HazardKind::kUnfinishedHostRead
                                                                      : HazardKind::kReadBeforeWrite;
  }
  if (earlier.writes && later.writes) return HazardKind::kUnorderedWrites;
  if (later.writes) return HazardKind::kWriteWhileRead;
  return std::nullopt;
}

/// Gives each use of a buffer that `taker`, which may be given its memory, need not wait for.
void add_reuses(const Program& program, const HappensBefore& order, BufferIndex index, OperationIndex taker,
                std::vector<Conflict>& conflicts) {
  const Buffer& buffer = program.buffer(index);
  for (const OperationIndex use : buffer.uses) {
    if (order.before(use, taker)) continue;
    const auto covers = [&](MarkIndex mark) { return order.covered(use, mark); };
    if (std::ranges::any_of(buffer.marks, covers)) continue;
    conflicts.push_back({HazardKind::kFreeBeforeLastUse, use, taker, buffer.datum, index});
  }
}

}  // namespace

std::string_view to_string(HazardKind kind) { return kWords.at(static_cast<std::size_t>(kind)); }

Verbs verbs_of(HazardKind kind) {
  switch (kind) {
    case HazardKind::kReadBeforeWrite: return {"writes", "reads"};
    case HazardKind::kWriteWhileRead: return {"reads", "writes"};
    case HazardKind::kUnorderedWrites: return {"writes", "writes"};
    case HazardKind::kFreeBeforeLastUse: return {"uses", "reuses"};
    case HazardKind::kReadAfterFree: return {"frees", "reads"};
    case HazardKind::kMemoryStillInUse: return {"uses", "writes"};
    case HazardKind::kUnfinishedHostRead: return {"copies", "reads"};
    case HazardKind::kCollectiveOrder:
    case HazardKind::kDeadlock: return {"issues", "issues"};
  }
  return {};
}

std::vector<Conflict> unordered_accesses(const Program& program, const HappensBefore& order) {
  std::vector<std::vector<Touches>> by_datum(program.data.size());
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    for (const Access& access : program.operations[o].accesses) {
      if (access.locked) continue;
      auto& touches = by_datum[access.datum.index()];
      if (touches.empty() || touches.back().operation != OperationIndex{o}) touches.push_back({{o}});
      touches.back().reads = touches.back().reads || !access.writes;
      touches.back().writes = touches.back().writes || access.writes;
    }
  }
  std::vector<Conflict> conflicts;
  for (std::uint32_t d = 0; d < by_datum.size(); ++d) {
    const auto& touches = by_datum[d];
    for (std::size_t later = 1; later < touches.size(); ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        if (order.before(touches[earlier].operation, touches[later].operation)) continue;
        const auto kind = clash(program, touches[earlier], touches[later]);
        if (kind) conflicts.push_back({*kind, touches[earlier].operation, touches[later].operation, {d}, std::nullopt});
      }
    }
  }
  return conflicts;
}

namespace {

/// The streams whose memory an operation may be given: for its results, and for temporaries of its own.
std::vector<LaneIndex> pools_of(const Program& program, const Operation& op) {
  if (!op.pool) return {};
  if (*op.pool == op.lane || program.lanes[op.lane.index()].kind != Lane::Kind::kStream) return {*op.pool};
  return {*op.pool, op.lane};
}

/// How many lanes take memory of each pool.
std::vector<std::size_t> takers_of_pools(const Program& program) {
  std::set<std::pair<LaneIndex, LaneIndex>> pairs;
  for (const Operation& op : program.operations) {
    for (const LaneIndex pool : pools_of(program, op)) pairs.emplace(pool, op.lane);
  }
  std::vector<std::size_t> takers(program.lanes.size());
  for (const auto& [pool, lane] : pairs) ++takers[pool.index()];
  return takers;
}

/// A buffer that was given back, with the lanes that were given memory of its pool since: what comes behind on these is
/// ordered by that.
struct Freed {
  BufferIndex buffer;
  std::vector<LaneIndex> seen;
};

}  // namespace

std::vector<Conflict> lifetime_conflicts(const Program& program, const HappensBefore& order) {
  std::vector<Conflict> conflicts;
  const std::vector<std::size_t> takers = takers_of_pools(program);
  std::vector<std::vector<Freed>> free(program.lanes.size());
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind == Instruction::Kind::kFree) {
      free[program.buffer(instruction.buffer).pool.index()].push_back({instruction.buffer, {}});
      continue;
    }
    if (instruction.kind != Instruction::Kind::kRun) continue;
    const Operation& op = program.operation(instruction.operation);
    for (const LaneIndex pool : pools_of(program, op)) {
      for (Freed& one : free[pool.index()]) {
        if (std::ranges::find(one.seen, op.lane) != one.seen.end()) continue;
        one.seen.push_back(op.lane);
        add_reuses(program, order, one.buffer, instruction.operation, conflicts);
      }
      std::erase_if(free[pool.index()], [&](const Freed& one) { return one.seen.size() == takers[pool.index()]; });
    }
  }
  for (const ReadAfterFree& read : program.reads_after_free) {
    const Buffer& buffer = program.buffer(read.buffer);
    conflicts.push_back({HazardKind::kReadAfterFree, buffer.uses.back(), read.read, buffer.datum, read.buffer});
  }
  return conflicts;
}

std::vector<Conflict> pool_conflicts(const Program& program, const HappensBefore& order) {
  std::vector<Conflict> conflicts;
  std::vector<std::optional<OperationIndex>> newest(program.lanes.size());
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind != Instruction::Kind::kRun) continue;
    const Operation& op = program.operation(instruction.operation);
    const auto written = std::ranges::find(op.accesses, true, &Access::writes);
    if (op.pool && *op.pool != op.lane && written != op.accesses.end()) {
      const auto& last = newest[op.pool->index()];
      if (last && !order.before(*last, instruction.operation)) {
        conflicts.push_back(
            {HazardKind::kMemoryStillInUse, *last, instruction.operation, written->datum, std::nullopt});
      }
    }
    newest[op.lane.index()] = instruction.operation;
  }
  return conflicts;
}

}  // namespace interlace::check
