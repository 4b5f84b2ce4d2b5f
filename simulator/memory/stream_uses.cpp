#include "simulator/memory/stream_uses.hpp"

#include <algorithm>

#include "simulator/graph/communication_streams.hpp"
#include "simulator/memory/steps.hpp"

namespace interlace::memory {

namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::StageStep;
using schedule::StreamIndex;
using stages::SegmentKey;
using trace::LaneId;

/// Does the stage that sends a message wait until it is there? Then its own stream is behind all that used the memory.
bool waits_at_once(const Schedule& schedule, const SegmentKey& segment) {
  const StageStep* step = segment.stage == Stage::kAllToAll ? step_of(schedule, segment) : nullptr;
  return step != nullptr && !step->async;
}

}  // namespace

StreamRoles::StreamRoles(const trace::Trace& trace, const stages::RankCut& cut, const Schedule& recorded)
    : recorded_(&recorded) {
  const std::vector<bool> is_communication = graph::communication_streams(trace);
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const LaneId lane{i};
    if (trace.lane(lane).rank != cut.rank || !is_communication[i]) continue;
    collectives_.emplace(lane, static_cast<std::uint32_t>(collectives_.size()));
  }
  std::map<LaneId, std::map<StreamIndex, int>> works;
  for (const stages::Iteration& iteration : cut.iterations) {
    for (const stages::Item& item : iteration.items) {
      const auto stream = stream_of(recorded, item.segment);
      if (!stream) continue;
      for (const trace::OperationId op : trace.launched_by(item.call)) ++works[trace.lane_of(op)][*stream];
    }
  }
  for (const auto& [lane, streams] : works) {
    if (collectives_.contains(lane)) continue;
    of_schedule_[lane] = std::ranges::max_element(streams, {}, [](const auto& entry) { return entry.second; })->first;
  }
}

std::optional<StreamUse> StreamRoles::use(const SegmentKey& in, LaneId stream) const {
  if (const auto collective = collectives_.find(stream); collective != collectives_.end()) {
    return StreamUse{in, StreamUse::Kind::kCollective, collective->second};
  }
  const auto own = of_schedule_.find(stream);
  if (own == of_schedule_.end()) return std::nullopt;
  if (const StageStep* step = step_of(*recorded_, in)) {
    const bool named = std::ranges::any_of(step->record_stream,
                                           [&](StreamIndex one) { return recorded_->resolve(one) == own->second; });
    if (named) return StreamUse{in, StreamUse::Kind::kNamed};
  }
  if (stream_of(*recorded_, in) == own->second) return StreamUse{in, StreamUse::Kind::kOwn};
  return StreamUse{in, StreamUse::Kind::kOther, own->second.value};
}

std::optional<StreamIndex> stream_of(const Schedule& schedule, const SegmentKey& segment) {
  const SegmentKey lookup{segment.module ? Stage::kEmbeddingLookup : Stage::kDataParallelLookup, stages::Piece::kWhole,
                          segment.module};
  const StageStep* step = segment.of_tables() ? step_of(schedule, lookup) : nullptr;
  if (step == nullptr) step = step_of(schedule, segment);
  return step == nullptr ? std::nullopt : std::optional(schedule.resolve(step->stream));
}

std::vector<StreamIndex> streams_of(const StreamUse& use, const Schedule& recorded, const Schedule& wanted) {
  std::vector<StreamIndex> streams;
  switch (use.kind) {
    case StreamUse::Kind::kNamed:
      if (const StageStep* step = step_of(wanted, use.in)) {
        for (const StreamIndex stream : step->record_stream) streams.push_back(wanted.resolve(stream));
      }
      break;
    case StreamUse::Kind::kOwn:
      if (const auto stream = stream_of(wanted, use.in)) streams.push_back(*stream);
      break;
    case StreamUse::Kind::kCollective:
      if (waits_at_once(wanted, use.in)) break;
      streams.push_back({static_cast<std::uint32_t>(wanted.streams.size()) + use.number});
      break;
    case StreamUse::Kind::kOther:
      if (const auto same = wanted.stream_named(recorded.stream(StreamIndex{use.number}).name)) {
        streams.push_back(wanted.resolve(*same));
      }
      break;
  }
  return streams;
}

}  // namespace interlace::memory
