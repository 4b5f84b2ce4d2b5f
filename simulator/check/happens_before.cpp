#include "simulator/check/happens_before.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <numeric>

namespace interlace::check {

namespace {

using Clock = std::vector<std::uint32_t>;

void join(Clock& clock, std::span<const std::uint32_t> other) {
  for (std::size_t lane = 0; lane < clock.size(); ++lane) clock[lane] = std::max(clock[lane], other[lane]);
}

}  // namespace

HappensBefore::HappensBefore(const Program& program, bool stage_reads)
    : program_(&program),
      lanes_(program.lanes.size()),
      clocks_(program.operations.size() * lanes_),
      marks_(program.marks * lanes_),
      place_(program.operations.size()),
      on_lane_(lanes_) {
  std::vector<Clock> now(lanes_, Clock(lanes_, 0));
  const Clock& host = now[Program::kHost.index()];
  for (const Instruction& instruction : program.instructions) {
    const std::size_t lane = instruction.lane.index();
    switch (instruction.kind) {
      case Instruction::Kind::kRun: {
        const std::size_t op = instruction.operation.index();
        join(now[lane], host);
        on_lane_[lane].push_back(instruction.operation);
        place_[op] = ++now[lane][lane];
        std::ranges::copy(now[lane], clocks_.begin() + static_cast<std::ptrdiff_t>(op * lanes_));
        break;
      }
      case Instruction::Kind::kMark: {
        Clock mark = now[lane];
        join(mark, host);
        std::ranges::copy(mark, marks_.begin() + static_cast<std::ptrdiff_t>(instruction.mark.index() * lanes_));
        break;
      }
      case Instruction::Kind::kWait:
        if (instruction.cause == Instruction::Cause::kStageRead && !stage_reads) break;
        join(now[lane], std::span(marks_).subspan(instruction.mark.index() * lanes_, lanes_));
        break;
      case Instruction::Kind::kFree: break;
    }
  }
}

bool HappensBefore::before(OperationIndex earlier, OperationIndex later) const {
  return earlier != later && at(later, program_->operation(earlier).lane) >= place_[earlier.index()];
}

bool HappensBefore::covered(OperationIndex operation, MarkIndex mark) const {
  return marks_[mark.index() * lanes_ + program_->operation(operation).lane.index()] >= place_[operation.index()];
}

std::optional<OperationIndex> HappensBefore::newest_before(LaneIndex lane, OperationIndex later) const {
  const std::uint32_t own = program_->operation(later).lane == lane ? 1 : 0;
  const std::uint32_t done = at(later, lane) - own;
  if (done == 0) return std::nullopt;
  return on_lane_[lane.index()][done - 1];
}

std::span<const std::uint32_t> HappensBefore::clock(OperationIndex operation) const {
  return std::span(clocks_).subspan(operation.index() * lanes_, lanes_);
}

namespace {

/// The clocks of one iteration's operations as seen from its beginning: how many operations of each lane before the
/// iteration are not yet known to be done (negative: of the iteration, known to be). What lies `window` iterations back
/// counts as never waited for: no datum of a batch lives that long, and for the others the nearer iterations tell.
std::vector<std::int64_t> relative_clocks(const Program& program, const HappensBefore& order, std::int64_t iteration,
                                          std::int64_t window) {
  std::vector<std::int64_t> begin(program.lanes.size());
  std::vector<std::int64_t> per_iteration(program.lanes.size());
  for (const Operation& op : program.operations) {
    if (op.iteration < iteration) ++begin[op.lane.index()];
    if (op.iteration == iteration) ++per_iteration[op.lane.index()];
  }
  std::vector<std::int64_t> relative;
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    if (program.operations[o].iteration != iteration) continue;
    const auto clock = order.clock({o});
    for (std::size_t lane = 0; lane < clock.size(); ++lane) {
      const std::int64_t behind = begin[lane] - static_cast<std::int64_t>(clock[lane]);
      relative.push_back(std::min(behind, per_iteration[lane] * window));
    }
  }
  return relative;
}

std::int64_t farthest_event(const schedule::Schedule& schedule) {
  std::int64_t farthest = 0;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* wait = std::get_if<schedule::WaitStep>(&placed.step->action);
    if (wait != nullptr) farthest = std::max<std::int64_t>(farthest, std::abs(wait->event_batch));
  }
  return farthest;
}

}  // namespace

std::int64_t batches_to_steady_state(const schedule::Schedule& schedule, const UnrollOptions& options) {
  const std::int64_t depth = schedule::depth(schedule);
  const std::int64_t window = depth + farthest_event(schedule) + 2;
  UnrollOptions tried = options;
  // Each wait moves a clock by at least one iteration or not at all, so this ends; the bound is for a bug.
  constexpr std::int64_t kTooMany = 4096;
  for (tried.batches = 2 * depth + 2 * window; tried.batches < kTooMany; tried.batches *= 2) {
    const Program program = unroll(schedule, tried);
    const HappensBefore order(program, false);
    std::int64_t same = 0;
    for (std::int64_t i = 1; program.steady(i); ++i) {
      const bool repeats = relative_clocks(program, order, i, window) == relative_clocks(program, order, i - 1, window);
      same = repeats ? same + 1 : 0;
      if (same >= window) return std::min(tried.batches, i + 1 + depth);
    }
  }
  assert(false && "the order of a schedule becomes periodic");
  return kTooMany;
}

std::vector<std::int64_t> lengths_of_short_runs(const schedule::Schedule& schedule) {
  std::vector<std::int64_t> lengths(2 * static_cast<std::size_t>(schedule::depth(schedule)));
  std::iota(lengths.begin(), lengths.end(), 1);
  return lengths;
}

}  // namespace interlace::check
