#include "simulator/memory/moved_block.hpp"

#include "simulator/memory/steps.hpp"

namespace interlace::memory {

namespace {

using schedule::Schedule;
using schedule::Stage;

/// Who waits for a collective takes over what it sent and brought, and calls record_stream where that comes from
/// another stream's pool. Where it comes from the waiter's own, a recording shows nothing of it.
bool is_taken_over_unseen(const BlockClass& kind, const ClassHistory& history, const Schedule& recorded) {
  if (!history.released || !history.released->place.segment) return false;
  const stages::SegmentKey& waiter = *history.released->place.segment;
  const bool waits = waiter.stage == Stage::kInputDistWait || waiter.stage == Stage::kInputDistFinish ||
                     waiter.stage == Stage::kOutputDistWait;
  const schedule::StageStep* maker = step_of(recorded, kind.made_in);
  if (!waits || maker == nullptr) return false;
  return stream_of(recorded, waiter) == recorded.resolve(maker->alloc.value_or(maker->stream));
}

}  // namespace

bool outlives_segment(const BlockClass& kind, const ClassHistory& history) {
  return !history.released || history.released->place.segment != kind.made_in || history.released->batches_later != 0;
}

Fate moved_block(const RecordedMemory& memory, const BlockClass& kind, const schedule::Schedule& recorded,
                 const schedule::Schedule& wanted) {
  const ClassHistory& history = memory.classes.at(kind);
  const Place made{kind.made_in, history.calls, kind.ordinal};
  Release released = history.released.value_or(Release{made, 1, {}});
  released.behind.reset();  // a run of the recorded schedule
  Fate fate{made, kind, {released}, {}, {}};
  for (const StreamUse& use : history.uses) {
    for (const schedule::StreamIndex stream : streams_of(use, recorded, wanted)) fate.used_on.push_back(stream);
  }
  if (!outlives_segment(kind, history)) return fate;
  if (memory.knows_uses && is_taken_over_unseen(kind, history, recorded)) {
    if (const auto waiter = stream_of(wanted, *history.released->place.segment)) fate.used_on.push_back(*waiter);
  }
  const schedule::StageStep* step = step_of(wanted, kind.made_in);
  if (step == nullptr) return fate;
  if (step->alloc) fate.pool = wanted.resolve(*step->alloc);
  if (memory.knows_uses) return fate;
  for (const schedule::StreamIndex stream : step->record_stream) fate.used_on.push_back(wanted.resolve(stream));
  return fate;
}

}  // namespace interlace::memory
