#include "tests/support/interleavings.hpp"

#include <algorithm>
#include <cassert>
#include <random>
#include <unordered_set>
#include <vector>

namespace interlace::testing_support {

namespace {

using check::Access;
using check::Buffer;
using check::Instruction;
using check::LaneIndex;
using check::Operation;
using check::OperationIndex;
using check::Program;
using Kind = Instruction::Kind;

constexpr std::uint32_t kNobody = 0xffffffff;

/// Whether it makes a difference which of two operations comes first: they touch the same datum and not both to read
/// it, or one may be given memory that the other uses.
class Dependence {
 public:
  explicit Dependence(const Program& program) : rows_(program.operations.size()) {
    std::vector<std::size_t> launched(program.operations.size());
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction& instruction = program.instructions[i];
      if (instruction.kind == Kind::kRun) launched[instruction.operation.index()] = i;
    }
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      rows_[a].resize(rows_.size());
      for (std::size_t b = 0; b < a; ++b) {
        if (touch_the_same(program.operations[a], program.operations[b])) join(a, b);
      }
    }
    for (const Buffer& buffer : program.buffers) {
      if (!buffer.freed_at) continue;
      for (std::size_t a = 0; a < rows_.size(); ++a) {
        if (launched[a] < *buffer.freed_at || !takes_from(program.operations[a], buffer.pool)) continue;
        for (const OperationIndex use : buffer.uses) {
          // Memory is not handed out before the mark on a recorded stream, which stands behind the use.
          const LaneIndex lane = program.operation(use).lane;
          if (std::ranges::find(buffer.recorded, lane) == buffer.recorded.end()) join(a, use.index());
        }
      }
    }
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      const Operation& op = program.operations[a];
      if (!op.pool || *op.pool == op.lane) continue;
      for (std::size_t b = 0; b < a; ++b) {
        if (program.operations[b].lane == *op.pool) join(a, b);
      }
    }
  }

  [[nodiscard]] bool between(OperationIndex a, OperationIndex b) const { return rows_[a.index()][b.index()]; }

 private:
  static bool takes_from(const Operation& op, LaneIndex pool) {
    return op.pool && (*op.pool == pool || op.lane == pool);
  }

  static bool touch_the_same(const Operation& a, const Operation& b) {
    return std::ranges::any_of(a.accesses, [&](const Access& one) {
      return std::ranges::any_of(
          b.accesses, [&](const Access& other) { return one.datum == other.datum && (one.writes || other.writes); });
    });
  }

  void join(std::size_t a, std::size_t b) { rows_[a][b] = rows_[b][a] = true; }

  std::vector<std::vector<bool>> rows_;
};

/// What does not change while a program runs.
class Machine {
 public:
  explicit Machine(const Program& run)
      : program(run),
        queues(run.lanes.size()),
        mark_lane(run.marks),
        mark_place(run.marks),
        expected(run.operations.size()),
        last_writer(run.data.size(), kNobody),
        place(run.operations.size()) {
    for (std::uint32_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction& instruction = program.instructions[i];
      if (instruction.kind == Kind::kFree || is_left_out(instruction)) continue;
      auto& queue = queues[instruction.lane.index()];
      if (instruction.kind == Kind::kMark) {
        mark_lane[instruction.mark.index()] = instruction.lane;
        mark_place[instruction.mark.index()] = queue.size();
      }
      if (instruction.kind == Kind::kRun) enter(instruction.operation, queue.size());
      queue.push_back(i);
    }
  }

  /// The host's reads inside stages keep nothing in order, see docs/check.md.
  static bool is_left_out(const Instruction& instruction) {
    return instruction.kind == Kind::kWait && instruction.cause == Instruction::Cause::kStageRead;
  }

  const Program& program;
  std::vector<std::vector<std::uint32_t>> queues;  ///< instructions by lane
  std::vector<LaneIndex> mark_lane;
  std::vector<std::size_t> mark_place;
  std::vector<std::vector<std::uint32_t>> expected;  ///< the writer that each access of an operation should meet
  std::vector<std::uint32_t> last_writer;            ///< in the end
  std::vector<std::size_t> place;                    ///< of each operation in its lane's queue

 private:
  void enter(OperationIndex operation, std::size_t at) {
    place[operation.index()] = at;
    const auto& accesses = program.operation(operation).accesses;
    for (const Access& access : accesses) expected[operation.index()].push_back(last_writer[access.datum.index()]);
    for (const Access& access : accesses) {
      if (access.writes) last_writer[access.datum.index()] = operation.value;
    }
  }
};

struct State {
  std::uint32_t host = 0;                                      ///< next instruction
  std::vector<std::uint32_t> done;                             ///< of each lane's queue
  std::vector<std::uint32_t> writer;                           ///< of each datum, now
  std::vector<std::pair<std::uint32_t, std::uint32_t>> takes;  ///< operation, buffer that it may overwrite
};

class Run {
 public:
  explicit Run(const Machine& machine) : machine_(machine), program_(machine.program) {
    state.done.resize(program_.lanes.size());
    state.writer.assign(program_.data.size(), kNobody);
    settle();
  }

  State state;
  std::optional<std::string> wrong;
  std::vector<OperationIndex>* log = nullptr;  ///< what runs is written here, and nothing goes wrong

  /// A lane whose next operation comes out the same whatever else may run before it, so that it need not wait for its
  /// turn. None: there is none, and each may make a difference.
  [[nodiscard]] std::optional<std::uint32_t> harmless(const Dependence& dependence,
                                                      const std::vector<std::uint32_t>& choices) const {
    for (const std::uint32_t lane : choices) {
      if (lane == 0) continue;
      const OperationIndex next = program_.instructions[next_of(lane)].operation;
      const std::vector<OperationIndex> before = all_without(lane);
      const auto matters = [&](OperationIndex other) { return dependence.between(next, other); };
      if (std::ranges::none_of(before, matters)) return lane;
    }
    return std::nullopt;
  }

  /// Lanes that have an operation to run now; the host's lane where it may launch or leave it for later.
  [[nodiscard]] std::vector<std::uint32_t> choices() const {
    std::vector<std::uint32_t> choices;
    if (state.host < program_.instructions.size() && host_may_go_on()) choices.push_back(0);
    for (std::uint32_t lane = 1; lane < state.done.size(); ++lane) {
      if (ready(lane)) choices.push_back(lane);
    }
    return choices;
  }

  void choose(std::uint32_t lane) {
    if (lane == 0) {
      step_host();
    } else {
      execute(program_.instructions[next_of(lane)].operation);
      ++state.done[lane];
    }
    settle();
  }

  /// All done: every datum must be what the host's order leaves.
  void finish() {
    assert(state.host == program_.instructions.size());
    for (std::size_t d = 0; d < state.writer.size() && !wrong; ++d) {
      if (state.writer[d] != machine_.last_writer[d]) wrong = program_.data[d].name + " in the end";
    }
  }

 private:
  /// All that could run if a lane stood still.
  [[nodiscard]] std::vector<OperationIndex> all_without(std::uint32_t still) const {
    std::vector<OperationIndex> executed;
    Run run = *this;
    run.log = &executed;
    while (true) {
      const auto choices = run.choices();
      const auto other = std::ranges::find_if(choices, [&](std::uint32_t lane) { return lane != still; });
      if (other == choices.end()) return executed;
      run.choose(*other);
    }
  }

  [[nodiscard]] std::uint32_t next_of(std::uint32_t lane) const { return machine_.queues[lane][state.done[lane]]; }

  [[nodiscard]] bool issued(std::uint32_t lane) const {
    return state.done[lane] < machine_.queues[lane].size() && next_of(lane) < state.host;
  }

  [[nodiscard]] bool ready(std::uint32_t lane) const {
    return issued(lane) && program_.instructions[next_of(lane)].kind == Kind::kRun;
  }

  [[nodiscard]] bool is_set(check::MarkIndex mark) const {
    return state.done[machine_.mark_lane[mark.index()].index()] > machine_.mark_place[mark.index()];
  }

  [[nodiscard]] bool is_done(OperationIndex operation) const {
    return state.done[program_.operation(operation).lane.index()] > machine_.place[operation.index()];
  }

  [[nodiscard]] bool host_may_go_on() const {
    const Instruction& next = program_.instructions[state.host];
    return next.lane != Program::kHost || next.kind != Kind::kWait || Machine::is_left_out(next) || is_set(next.mark);
  }

  /// Buffers that were given back into a pool that the operation takes memory from, and that are in use still.
  template <class Visit>
  void for_each_free(const Operation& op, const Visit& visit) const {
    if (!op.pool) return;
    const bool on_stream = program_.lanes[op.lane.index()].kind == check::Lane::Kind::kStream;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      if (buffer.pool != *op.pool && (!on_stream || buffer.pool != op.lane)) continue;
      if (!buffer.freed_at || *buffer.freed_at >= state.host) continue;
      if (in_use(buffer)) visit(b, buffer);
    }
  }

  [[nodiscard]] bool in_use(const Buffer& buffer) const {
    return !std::ranges::all_of(buffer.uses, [&](OperationIndex use) { return is_done(use); });
  }

  [[nodiscard]] bool is_kept(const Buffer& buffer) const {
    return !std::ranges::all_of(buffer.marks, [&](check::MarkIndex mark) { return is_set(mark); });
  }

  /// Whether it matters when the host launches the next operation: record_stream keeps memory now that it may not keep
  /// later.
  [[nodiscard]] bool launch_may_be_late() const {
    const Instruction& next = program_.instructions[state.host];
    if (next.kind != Kind::kRun) return false;
    bool late = false;
    for_each_free(program_.operation(next.operation),
                  [&](std::uint32_t, const Buffer& buffer) { late = late || is_kept(buffer); });
    return late;
  }

  void step_host() {
    const Instruction& next = program_.instructions[state.host];
    if (next.kind == Kind::kRun) {
      for_each_free(program_.operation(next.operation), [&](std::uint32_t b, const Buffer& buffer) {
        if (!is_kept(buffer)) state.takes.emplace_back(next.operation.value, b);
      });
      if (next.lane == Program::kHost) execute(next.operation);
    }
    if (next.lane == Program::kHost && next.kind != Kind::kFree && !Machine::is_left_out(next)) ++state.done[0];
    ++state.host;
  }

  /// Goes on with all for which it does not matter when it happens: the host, marks and waits.
  void settle() {
    for (bool moved = true; moved && !wrong;) {
      moved = false;
      while (!wrong && state.host < program_.instructions.size() && host_may_go_on() && !launch_may_be_late()) {
        step_host();
        moved = true;
      }
      for (std::uint32_t lane = 1; lane < state.done.size(); ++lane) {
        while (issued(lane)) {
          const Instruction& next = program_.instructions[next_of(lane)];
          if (next.kind == Kind::kRun || (next.kind == Kind::kWait && !is_set(next.mark))) break;
          ++state.done[lane];
          moved = true;
        }
      }
    }
  }

  void execute(OperationIndex operation) {
    if (log != nullptr) {
      log->push_back(operation);
      return;
    }
    const Operation& op = program_.operation(operation);
    const auto& expected = machine_.expected[operation.index()];
    for (std::size_t a = 0; a < op.accesses.size(); ++a) {
      const Access& access = op.accesses[a];
      if (!access.writes && !access.locked && state.writer[access.datum.index()] != expected[a]) {
        wrong = "the wrong version of " + program_.data[access.datum.index()].name;
      }
    }
    for (const Access& access : op.accesses) {
      if (access.writes) state.writer[access.datum.index()] = operation.value;
    }
    overwrite_taken(operation);
    overwrite_temporaries(operation);
    for (const check::ReadAfterFree& read : program_.reads_after_free) {
      if (read.read == operation) wrong = "freed memory";
    }
  }

  void overwrite_taken(OperationIndex operation) {
    std::erase_if(state.takes, [&](const auto& take) {
      if (take.first != operation.value) return false;
      const Buffer& buffer = program_.buffers[take.second];
      const auto used_later = [&](OperationIndex use) { return use != operation && !is_done(use); };
      if (std::ranges::any_of(buffer.uses, used_later)) {
        wrong = "overwritten memory of " + program_.data[buffer.datum.index()].name;
      }
      return true;
    });
  }

  void overwrite_temporaries(OperationIndex operation) {
    const Operation& op = program_.operation(operation);
    if (!op.pool || *op.pool == op.lane) return;
    if (std::ranges::none_of(op.accesses, &Access::writes)) return;
    for (const std::uint32_t i : machine_.queues[op.pool->index()]) {
      const Instruction& other = program_.instructions[i];
      if (other.kind != Kind::kRun) continue;
      if (other.operation < operation && !is_done(other.operation)) wrong = "temporaries of another stream overwritten";
    }
  }

  const Machine& machine_;
  const Program& program_;
};

/// What a run can still show hangs on this alone.
std::uint64_t fingerprint(const State& state) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  const auto add = [&](std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
    hash *= 0xff51afd7ed558ccdU;
    hash ^= hash >> 33U;
  };
  add(state.host);
  for (const std::uint32_t done : state.done) add(done);
  for (const std::uint32_t writer : state.writer) add(writer);
  for (const auto& [operation, buffer] : state.takes) add((std::uint64_t{operation} << 32U) | buffer);
  return hash;
}

}  // namespace

Explored explore_all(const Program& program, const Exploration& how) {
  const Machine machine(program);
  const Dependence dependence(program);
  Explored explored;
  std::unordered_set<std::uint64_t> seen;
  std::vector<Run> open{Run(machine)};
  while (!open.empty()) {
    const Run run = std::move(open.back());
    open.pop_back();
    if (run.wrong) {
      explored.wrong = run.wrong;
      return explored;
    }
    if (!seen.insert(fingerprint(run.state)).second) continue;
    if (++explored.states > how.limit) {
      explored.complete = false;
      return explored;
    }
    auto choices = run.choices();
    if (how.reduced) {
      if (const auto lane = run.harmless(dependence, choices)) choices = {*lane};
    }
    if (choices.empty()) {
      Run last = run;
      last.finish();
      if (last.wrong) {
        explored.wrong = last.wrong;
        return explored;
      }
    }
    for (const std::uint32_t lane : choices) {
      open.push_back(run);
      open.back().choose(lane);
    }
  }
  return explored;
}

Explored explore_some(const Program& program, std::uint64_t seed, int runs) {
  const Machine machine(program);
  std::mt19937_64 random(seed);
  Explored explored;
  explored.complete = false;
  for (int i = 0; i < runs; ++i) {
    Run run(machine);
    // A lane that is slow throughout finds more than a fair draw at each step.
    std::vector<std::uint64_t> pace(program.lanes.size());
    for (std::uint64_t& one : pace) one = 1 + random() % 20 * (random() % 20);
    for (auto choices = run.choices(); !choices.empty() && !run.wrong; choices = run.choices()) {
      std::uint64_t total = 0;
      for (const std::uint32_t lane : choices) total += pace[lane];
      std::uint64_t drawn = random() % total;
      auto lane = choices.begin();
      for (; drawn >= pace[*lane]; ++lane) drawn -= pace[*lane];
      run.choose(*lane);
      ++explored.states;
    }
    if (!run.wrong) run.finish();
    if (run.wrong) {
      explored.wrong = run.wrong;
      return explored;
    }
  }
  return explored;
}

}  // namespace interlace::testing_support
