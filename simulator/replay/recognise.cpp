#include "simulator/replay/recognise.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "simulator/replay/program.hpp"

namespace interlace::replay {

namespace {

/// How often each recorded stream was met with each of the schedule's.
using Meetings = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

/// The part of all meetings that would remain if each stream of one side had only its most frequent partner.
template <class Side>
double purity(const Meetings& meetings, Side side) {
  std::map<std::uint32_t, double> best;
  double total = 0;
  for (const auto& [pair, count] : meetings) {
    double& most = best[side(pair)];
    most = std::max(most, count);
    total += count;
  }
  double kept = 0;
  for (const auto& [stream, most] : best) kept += most;
  return total > 0 ? kept / total : 0;
}

void meet(const Program& program, const RecordedIteration& iteration, const trace::Trace& trace, Meetings& meetings) {
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind != Instruction::Kind::kCall) continue;
    const RecordedCall& call = iteration.calls[instruction.call];
    for (std::uint32_t i = call.first_work; i < call.first_work + call.works; ++i) {
      const RecordedWork& work = iteration.works[i];
      if (work.on_collective_stream || !work.work) continue;
      meetings[{trace.lane_of(*work.work).value, instruction.stream.value}] += 1;
    }
  }
}

/// Calls of the program that come right behind the call recorded before them; the first follows the last.
double followers(const Program& program) {
  std::vector<std::uint32_t> order;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind == Instruction::Kind::kCall) order.push_back(instruction.call);
  }
  if (order.empty()) return 0;
  double kept = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t before = order[(i + order.size() - 1) % order.size()];
    if (order[i] == before + 1 || order[i] == 0) kept += 1;
  }
  return kept;
}

}  // namespace

std::optional<Likeness> likeness(const schedule::Schedule& schedule, const trace::Trace& trace, const stages::Cut& cut,
                                 const SiteTable& table) {
  Plan plan;
  try {
    plan = compile(schedule, cut, table);
  } catch (const Error& error) {
    if (error.code() == kStageNotRecorded.name) return std::nullopt;
    throw;
  }
  double kept = 0;
  double calls = 0;
  Likeness result{.order = 0, .streams = 1};
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    Meetings meetings;
    for (std::size_t i = 0; i < plan.programs[rank].size(); ++i) {
      const RecordedIteration& iteration = table.ranks[rank][i];
      kept += followers(plan.programs[rank][i]);
      calls += static_cast<double>(std::max(iteration.calls.size(), std::size_t{1}));
      meet(plan.programs[rank][i], iteration, trace, meetings);
    }
    const double streams = std::min(purity(meetings, [](const auto& pair) { return pair.first; }),
                                    purity(meetings, [](const auto& pair) { return pair.second; }));
    result.streams = std::min(result.streams, streams);
  }
  result.order = calls > 0 ? std::min(1.0, kept / calls) : 0;
  return result;
}

std::optional<std::string_view> named_schedule(const trace::Trace& trace) {
  constexpr std::string_view kPrefix = "schedule ";
  std::optional<std::string_view> named;
  for (const std::string& text : trace.strings()) {
    if (!text.starts_with(kPrefix)) continue;
    if (named) return std::nullopt;
    named = std::string_view(text).substr(kPrefix.size());
  }
  return named;
}

const schedule::Schedule* recognise(std::span<const schedule::Schedule> candidates, const trace::Trace& trace,
                                    const stages::Cut& cut, const SiteTable& table, double least) {
  const schedule::Schedule* best = nullptr;
  double best_score = least;
  const std::optional<std::string_view> named = named_schedule(trace);
  for (const schedule::Schedule& candidate : candidates) {
    const auto alike = likeness(candidate, trace, cut, table);
    if (alike && alike->score() >= least && candidate.name == named) return &candidate;
    if (!alike || alike->score() < best_score || (best != nullptr && alike->score() == best_score)) continue;
    best = &candidate;
    best_score = alike->score();
  }
  return best;
}

}  // namespace interlace::replay
