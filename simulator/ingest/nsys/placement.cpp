#include "simulator/ingest/nsys/placement.hpp"

#include <utility>

#include "simulator/ingest/clock.hpp"
#include "simulator/ingest/nsys/flaws.hpp"

namespace interlace::ingest::nsys {

using trace::LaneId;
using trace::LaneKind;

Placement::Placement(const Session& session, std::string file, trace::TraceBuilder& builder, Diagnostics& diagnostics)
    : session_(session), file_(std::move(file)), builder_(builder), diagnostics_(diagnostics) {
  for (const Process& process : session.processes) {
    trace::Rank rank;
    rank.number = session.rank.value_or(static_cast<std::int32_t>(owners_.size()));
    rank.world_size = session.world_size;
    rank.source = file_;
    rank.process_id = process.id();
    rank.host_name = session.host_name;
    rank.producer = session.producer;
    rank.devices = process.devices;
    owners_.emplace(process.global_id, Owner{&process, builder.add_rank(std::move(rank))});
  }
}

const Placement::Owner* Placement::owner(std::optional<std::int64_t> global_id) {
  if (!global_id) {
    count(kUnusableRow);
    return nullptr;
  }
  const auto known = owners_.find(process_part(*global_id));
  if (known != owners_.end()) return &known->second;
  count(kOtherProcess);
  return nullptr;
}

bool Placement::is_new(LaneId lane) {
  if (lane.index() < lanes_) return false;
  lanes_ = lane.index() + 1;
  return true;
}

LaneId Placement::thread(const Owner& owner, std::int64_t global_id) {
  const LaneId lane = builder_.lane(LaneKind::kHostThread, owner.rank, owner.process->id(), thread_id(global_id));
  if (is_new(lane)) {
    const auto name = session_.thread_names.find(global_id);
    if (name != session_.thread_names.end()) builder_.name_lane(lane, name->second);
  }
  return lane;
}

LaneId Placement::stream(const Owner& owner, std::int64_t device, std::int64_t stream) {
  const LaneId lane = builder_.lane(LaneKind::kStream, owner.rank, device, stream);
  if (is_new(lane)) {
    const auto priority = session_.stream_priority.find({owner.process->id(), stream});
    if (priority != session_.stream_priority.end()) builder_.set_priority(lane, priority->second);
  }
  return lane;
}

std::optional<trace::TraceBuilder::Common> Placement::common(LaneId lane, trace::StringId name,
                                                             std::optional<Nanoseconds> start,
                                                             std::optional<Nanoseconds> end,
                                                             std::optional<std::int64_t> correlation) {
  Nanoseconds duration = 0;
  const bool is_timed = start && end && !__builtin_sub_overflow(*end, *start, &duration);
  const auto at = is_timed ? on_clock(session_.base_time, *start, duration) : std::nullopt;
  if (!at) {
    count(kUnusableRow);
    return std::nullopt;
  }
  return trace::TraceBuilder::Common{lane, name, *at, duration, correlation};
}

std::string_view Placement::text(std::optional<std::int64_t> id) {
  const auto known = id ? session_.texts.find(*id) : session_.texts.end();
  if (known != session_.texts.end()) return known->second;
  count(kUnknownText);
  return "(unnamed)";
}

}  // namespace interlace::ingest::nsys
