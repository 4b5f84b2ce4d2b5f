#include "simulator/analysis/idle_causes.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "simulator/analysis/host_blocking.hpp"

namespace interlace::analysis {

namespace {

using trace::OperationId;

/// The host calls of each thread that block it, by start.
std::vector<std::vector<OperationId>> blocking_calls(const trace::Trace& trace) {
  std::vector<std::vector<OperationId>> of_lane(trace.lanes().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (blocks_host(trace, {i})) of_lane[trace.lane_of({i}).index()].push_back({i});
  }
  return of_lane;
}

class GapCharger {
 public:
  GapCharger(const trace::Trace& trace, const Annotations& annotations)
      : trace_(trace), annotations_(annotations), blocking_(blocking_calls(trace)) {}

  /// Appends the pieces of a gap, by time.
  void charge(Interval gap, std::optional<OperationId> next, std::vector<IdlePiece>& pieces) const {
    const auto add = [&](IdleCause cause, std::string_view stage, Interval span) {
      if (span.length() > 0) pieces.push_back({span, cause, stage, next});
    };
    const auto launch = next ? trace_.launch_of(*next) : std::nullopt;
    if (!launch) return add(IdleCause::kUnknown, {}, gap);
    const std::string_view stage = annotations_.place_of(*launch);
    if (trace_.end(*launch) <= gap.begin) return add(IdleCause::kHeldBack, stage, gap);
    const Nanoseconds reached = std::clamp(trace_.start(*launch), gap.begin, gap.end);
    Nanoseconds explained = gap.begin;
    // Calls of one thread follow one another, so they are sorted by end as well.
    const auto& calls = blocking_[trace_.lane_of(*launch).index()];
    const auto first =
        std::ranges::upper_bound(calls, gap.begin, {}, [this](OperationId op) { return trace_.end(op); });
    for (auto call = first; call != calls.end() && trace_.start(*call) < reached; ++call) {
      const Interval blocked = intersection({trace_.start(*call), trace_.end(*call)}, {explained, reached});
      if (blocked.length() <= 0) continue;
      add(IdleCause::kHostBusy, stage, {explained, blocked.begin});
      add(IdleCause::kHostBlocked, annotations_.place_of(*call), blocked);
      explained = blocked.end;
    }
    add(IdleCause::kHostBusy, stage, {explained, reached});
    add(IdleCause::kLaunchLatency, stage, {reached, gap.end});
  }

 private:
  const trace::Trace& trace_;
  const Annotations& annotations_;
  std::vector<std::vector<OperationId>> blocking_;
};

/// Walks the device work of a rank, which `work` holds by start, and charges each gap between.
std::vector<IdlePiece> pieces_of_rank(const trace::Trace& trace, const std::vector<OperationId>& work,
                                      const StepWindow& window, const GapCharger& charger) {
  std::vector<IdlePiece> pieces;
  Nanoseconds busy_until = window.span.begin;
  for (const OperationId op : work) {
    if (trace.start(op) >= window.span.end) break;
    if (trace.start(op) > busy_until) charger.charge({busy_until, trace.start(op)}, op, pieces);
    busy_until = std::max(busy_until, trace.end(op));
  }
  if (busy_until < window.span.end) charger.charge({busy_until, window.span.end}, std::nullopt, pieces);
  return pieces;
}

}  // namespace

std::string_view to_string(IdleCause cause) {
  static constexpr std::array<std::string_view, 5> kNames{"host blocked", "host busy", "launch latency", "held back",
                                                          "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::vector<std::vector<IdlePiece>> idle_pieces(const trace::Trace& trace, const Annotations& annotations,
                                                std::span<const StepWindow> windows) {
  assert(windows.size() == trace.ranks().size());
  std::vector<std::vector<OperationId>> work(windows.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace::is_device_work(trace.kind({i})) && trace.duration({i}) > 0) {
      work[trace.rank_of({i}).index()].push_back({i});
    }
  }
  const GapCharger charger(trace, annotations);
  std::vector<std::vector<IdlePiece>> pieces;
  for (std::size_t rank = 0; rank < windows.size(); ++rank) {
    pieces.push_back(pieces_of_rank(trace, work[rank], windows[rank], charger));
  }
  return pieces;
}

std::vector<IdleTime> idle_causes(const trace::Trace& trace, const Annotations& annotations,
                                  std::span<const StepWindow> windows) {
  const auto pieces = idle_pieces(trace, annotations, windows);
  std::map<std::pair<IdleCause, std::string_view>, double> sums;
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    const double weight = 1.0 / (static_cast<double>(windows[rank].steps) * static_cast<double>(windows.size()));
    for (const IdlePiece& piece : pieces[rank]) {
      sums[{piece.cause, piece.stage}] += static_cast<double>(piece.span.length()) * weight;
    }
  }
  std::vector<IdleTime> result;
  for (const auto& [key, idle] : sums) result.push_back({key.first, std::string(key.second), std::llround(idle)});
  std::ranges::stable_sort(result, std::ranges::greater{}, &IdleTime::idle_ns);
  return result;
}

}  // namespace interlace::analysis
