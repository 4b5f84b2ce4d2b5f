#include "simulator/check/collective_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "simulator/check/happens_before.hpp"
#include "simulator/check/words.hpp"

namespace interlace::check {

namespace {

/// Modules are told by their names, whatever others a rank has; by their order where a schedule names none.
bool same_module(const Program& a, std::optional<std::uint32_t> of_a, const Program& b,
                 std::optional<std::uint32_t> of_b) {
  if (!of_a || !of_b || a.modules[*of_a].empty() || b.modules[*of_b].empty()) return of_a == of_b;
  return a.modules[*of_a] == b.modules[*of_b];
}

/// Of backward: the dense gradients, or else those of embeddings. It does not matter in which of its parts.
bool reduces_dense_gradients(const Program& program, const Operation& op) {
  return std::ranges::any_of(op.accesses, [&](const Access& access) {
    return program.data[access.datum.index()].resource == schedule::Resource::kDenseGradients;
  });
}

/// Whose data is exchanged must agree. What a step names is exchanged by all_to_all only.
bool same_exchange(const Program& a, const Operation& of_a, const Program& b, const Operation& of_b) {
  const schedule::StageStep& one = a.stage(of_a.stage);
  const schedule::StageStep& other = b.stage(of_b.stage);
  if (one.stage != other.stage || of_a.batch != of_b.batch) return false;
  if (reduces_dense_gradients(a, of_a) != reduces_dense_gradients(b, of_b)) return false;
  if (one.stage == schedule::Stage::kAllToAll && (one.reads != other.reads || one.writes != other.writes)) return false;
  return same_module(a, of_a.module, b, of_b.module);
}

std::vector<OperationIndex> collectives_of(const Program& program) {
  std::vector<OperationIndex> collectives;
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    if (program.operations[o].role == Role::kCollective) collectives.push_back({o});
  }
  return collectives;
}

Side side_of(const Program& program, OperationIndex index, std::size_t rank, std::int64_t iteration) {
  const Operation& op = program.operation(index);
  return {.operation = name_of(program, op, iteration),
          .does = fmt::format("rank {}", rank),
          .lane = program.schedule->stream(program.stage(op.stage).stream).name,
          .iterations_before = iteration - op.iteration,
          .line = line_of(program, op)};
}

/// Ranks whose batches run out end in the drain; only a difference before that is one of the schedules.
Hazard difference(const Program& first, const Program& other, std::size_t rank, std::size_t place) {
  const auto ours = collectives_of(first);
  const auto theirs = collectives_of(other);
  const bool ours_ends = place == ours.size();
  const bool theirs_ends = place == theirs.size();
  assert(!ours_ends || !theirs_ends);
  const std::int64_t iteration =
      ours_ends ? other.operation(theirs[place]).iteration : first.operation(ours[place]).iteration;
  Hazard hazard;
  hazard.kind = ours_ends || theirs_ends ? HazardKind::kDeadlock : HazardKind::kCollectiveOrder;
  hazard.phase = first.steady(iteration) ? Phase::kSteady : iteration < 0 ? Phase::kFilling : Phase::kDraining;
  hazard.datum = fmt::format("collective {}", place + 1);
  const Side none{.operation = "no collective any more", .does = {}, .lane = {}, .iterations_before = 0, .line = 0};
  hazard.earlier = ours_ends ? none : side_of(first, ours[place], 0, iteration);
  hazard.later = theirs_ends ? none : side_of(other, theirs[place], rank, iteration);
  hazard.earlier.does = "rank 0";
  hazard.later.does = fmt::format("rank {}", rank);
  if (hazard.kind == HazardKind::kDeadlock) {
    hazard.why = fmt::format(
        "Rank 0 issues {} collectives for {} batches and rank {} {} for {}: the rank with more waits for ever.",
        ours.size(), first.batches, rank, theirs.size(), other.batches);
  } else {
    hazard.why = fmt::format(
        "In iteration {} the communicator meets different collectives as its number {}: ranks take each other's data "
        "for another exchange's, or hang.{}",
        iteration, place + 1, first.batches == other.batches ? "" : " The ranks have different numbers of batches.");
  }
  return hazard;
}

}  // namespace

std::vector<Hazard> compare_collectives(const std::vector<RankPlan>& ranks, const CheckOptions& options) {
  assert(ranks.size() > 1);
  UnrollOptions unrolled;
  unrolled.feature_processors = options.feature_processors;
  unrolled.batches = 1;
  for (const RankPlan& rank : ranks) {
    unrolled.batches = std::max(unrolled.batches, batches_to_steady_state(*rank.schedule, unrolled));
  }
  std::vector<Program> programs;
  for (const RankPlan& rank : ranks) {
    UnrollOptions of_rank = unrolled;
    of_rank.batches = rank.batches.value_or(unrolled.batches);
    programs.push_back(unroll(*rank.schedule, of_rank));
  }
  std::vector<Hazard> hazards;
  const auto ours = collectives_of(programs.front());
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const auto theirs = collectives_of(programs[rank]);
    const auto same = [&](OperationIndex a, OperationIndex b) {
      return same_exchange(programs.front(), programs.front().operation(a), programs[rank],
                           programs[rank].operation(b));
    };
    const auto [a, b] = std::ranges::mismatch(ours, theirs, same);
    if (a == ours.end() && b == theirs.end()) continue;
    hazards.push_back(difference(programs.front(), programs[rank], rank, static_cast<std::size_t>(a - ours.begin())));
  }
  return hazards;
}

}  // namespace interlace::check
