#include "simulator/replay/recognise.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

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

/// Calls visit(OperationId) for each recorded work of the call on the stream that it was given, not on a collective's.
template <class Visit>
void for_each_work(const RecordedIteration& iteration, const RecordedCall& call, Visit visit) {
  for (std::uint32_t i = call.first_work; i < call.first_work + call.works; ++i) {
    const RecordedWork& work = iteration.works[i];
    if (!work.on_collective_stream && work.work) visit(*work.work);
  }
}

void meet(const Program& program, const RecordedIteration& iteration, const trace::Trace& trace, Meetings& meetings) {
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind != Instruction::Kind::kCall) continue;
    for_each_work(iteration, iteration.calls[instruction.call], [&](trace::OperationId work) {
      meetings[{trace.lane_of(work).value, instruction.stream.value}] += 1;
    });
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

/// Follows a rank's programs along the recorded times, to see which waits of the schedule its works kept.
class WaitsKept {
 public:
  WaitsKept(const trace::Trace& trace, std::size_t streams) : trace_(&trace), end_(streams, 0), awaited_(streams, 0) {}

  void follow(const Program& program, const RecordedIteration& iteration) {
    for (const Instruction& i : program.instructions) {
      if (i.kind == Instruction::Kind::kStreamWait) {
        Nanoseconds& awaited = awaited_[i.stream.value];
        awaited = std::max(awaited, end_[i.other.value]);
      } else if (i.kind == Instruction::Kind::kCall) {
        const RecordedCall& call = iteration.calls[i.call];
        for_each_work(iteration, call, [&](trace::OperationId work) { meet(i.stream, *call.call, work); });
      }
    }
  }

  /// Those for which work waited, less those for which it did not; works that were launched later tell nothing.
  [[nodiscard]] std::int64_t balance() const { return balance_; }

 private:
  void meet(StreamIndex stream, trace::OperationId call, trace::OperationId work) {
    // By so much a work may seem to begin before what it waited for ended.
    constexpr Nanoseconds kExact = 2 * kMicrosecond;
    const Nanoseconds awaited = std::exchange(awaited_[stream.value], 0);
    if (trace_->start(call) < awaited) balance_ += trace_->start(work) + kExact >= awaited ? 1 : -1;
    end_[stream.value] = std::max(end_[stream.value], trace_->end(work));
  }

  const trace::Trace* trace_;
  std::vector<Nanoseconds> end_;      ///< by the schedule's stream: of what it was given last
  std::vector<Nanoseconds> awaited_;  ///< by stream: what its next work has to wait for
  std::int64_t balance_ = 0;
};

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
    WaitsKept waits(trace, plan.streams.size());
    for (std::size_t i = 0; i < plan.programs[rank].size(); ++i) {
      const RecordedIteration& iteration = table.ranks[rank][i];
      kept += followers(plan.programs[rank][i]);
      calls += static_cast<double>(std::max(iteration.calls.size(), std::size_t{1}));
      meet(plan.programs[rank][i], iteration, trace, meetings);
      waits.follow(plan.programs[rank][i], iteration);
    }
    result.waits += waits.balance();
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
  std::pair<double, std::int64_t> best_score;
  const std::optional<std::string_view> named = named_schedule(trace);
  for (const schedule::Schedule& candidate : candidates) {
    const auto alike = likeness(candidate, trace, cut, table);
    if (!alike || alike->score() < least) continue;
    if (candidate.name == named) return &candidate;
    const std::pair score{alike->score(), alike->waits};
    if (best != nullptr && score <= best_score) continue;
    best = &candidate;
    best_score = score;
  }
  return best;
}

}  // namespace interlace::replay
