#include "simulator/check/overlap_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "simulator/check/edits.hpp"
#include "simulator/check/words.hpp"

namespace interlace::check {

namespace {

using schedule::Schedule;
using schedule::StageStep;
using schedule::StreamIndex;

/// The operations of some steady iterations: enough to hold all that may overlap.
std::vector<OperationIndex> steady_window(const Program& program) {
  const std::int64_t last = program.batches - program.depth - 1;
  const std::int64_t first = std::max<std::int64_t>(0, last - program.depth - 1);
  std::vector<OperationIndex> window;
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    const std::int64_t iteration = program.operations[o].iteration;
    if (iteration >= first && iteration <= last) window.push_back({o});
  }
  return window;
}

/// But for gradients that autograd adds on the stream of a lookup: nobody takes a stream for what these may overlap.
bool same_order(const Program& program, const HappensBefore& a, const HappensBefore& b) {
  const std::vector<OperationIndex> window = steady_window(program);
  for (const OperationIndex later : window) {
    if (program.operation(later).role == Role::kSideGradient) continue;
    for (const OperationIndex earlier : window) {
      if (earlier >= later) break;
      if (program.operation(earlier).role == Role::kSideGradient) continue;
      if (a.before(earlier, later) != b.before(earlier, later)) return false;
    }
  }
  return true;
}

bool has_work(const Program& program, const std::string& lane) {
  return std::ranges::any_of(program.operations, [&](const Operation& op) {
    return op.role == Role::kWork && program.lanes[op.lane.index()].name == lane;
  });
}

}  // namespace

std::vector<PointlessStream> find_pointless_streams(const Examined& examined, const std::vector<LostOverlap>& losses) {
  const Program& program = examined.program();
  const Schedule& schedule = *program.schedule;
  const HappensBefore order(program, true);
  const StreamIndex main = schedule.resolve(*schedule.stream_named("main"));
  std::vector<StreamIndex> working;
  for (std::uint32_t s = 0; s < schedule.streams.size(); ++s) {
    if (!schedule.streams[s].same_as && has_work(program, schedule.streams[s].name)) working.push_back({s});
  }
  // main first: to be as good as main is what counts.
  std::stable_partition(working.begin(), working.end(), [&](StreamIndex stream) { return stream == main; });
  std::vector<PointlessStream> pointless;
  std::set<StreamIndex> gone;
  for (const StreamIndex stream : working) {
    const std::string& name = schedule.stream(stream).name;
    const auto is_lost = [&](const LostOverlap& lost) { return lost.source == name || lost.stream == name; };
    if (stream == main || std::ranges::any_of(losses, is_lost)) continue;
    for (const StreamIndex other : working) {
      if (other == stream || gone.contains(other)) continue;
      Schedule merged = schedule;
      merged.streams[stream.index()].same_as = other;
      const Program changed = unroll(merged, examined.options());
      if (!same_order(program, order, HappensBefore(changed, true))) continue;
      pointless.push_back({schedule.stream(stream).name, schedule.stream(other).name});
      gone.insert(stream);
      break;
    }
  }
  return pointless;
}

namespace {

/// The first operation of a stage in the last steady iteration; none where it has none.
std::optional<OperationIndex> sample_of(const Program& program, StageIndex stage) {
  const std::int64_t last = program.batches - program.depth - 1;
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    const Operation& op = program.operations[o];
    if (op.iteration == last && op.stage == stage) return OperationIndex{o};
  }
  return std::nullopt;
}

class LossFinder {
 public:
  explicit LossFinder(const Examined& examined)
      : examined_(examined), program_(examined.program()), schedule_(*program_.schedule) {
    for (const Finding& finding : findings_of(examined)) known_.insert(finding.key);
  }

  std::vector<MendedLoss> run() {
    for (const WrittenWait& wait : written_waits(schedule_)) {
      const auto streams = streams_of(wait);
      if (!streams) continue;
      // The nearest stage below that reads on the host there, and the nearest above that the wait covers.
      const auto reader = find_reader(wait.at, streams->waiter);
      const auto covered = find_covered(wait.at, streams->source);
      if (reader && covered) try_above(wait, *streams, *reader, *covered);
    }
    return std::move(losses_);
  }

 private:
  struct Streams {
    StreamIndex waiter;
    StreamIndex source;
  };

  [[nodiscard]] std::optional<Streams> streams_of(const WrittenWait& wait) const {
    const schedule::Step& step = step_at(schedule_, wait.at);
    if (wait.after) {
      const auto& stage = std::get<StageStep>(step.action);
      return Streams{schedule_.resolve(stage.stream), schedule_.resolve(stage.after[*wait.after])};
    }
    const auto& written = std::get<schedule::WaitStep>(step.action);
    const auto* source = std::get_if<StreamIndex>(&written.source);
    if (source == nullptr || !written.waiter) return std::nullopt;
    return Streams{schedule_.resolve(*written.waiter), schedule_.resolve(*source)};
  }

  [[nodiscard]] bool runs_on(StageIndex stage, StreamIndex stream) const {
    const StageStep& step = program_.stage(stage);
    return step.stage != schedule::Stage::kNextBatch && schedule_.resolve(step.stream) == stream;
  }

  [[nodiscard]] std::optional<StageIndex> find_reader(schedule::Position from, StreamIndex stream) const {
    for (std::uint32_t s = 0; s < program_.stages.size(); ++s) {
      if (program_.stages[s].at < from || !runs_on({s}, stream)) continue;
      const StageStep& step = program_.stage({s});
      if (schedule::effects_of(step.stage, step.part).host == schedule::HostBlock::kStream) return StageIndex{s};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<StageIndex> find_covered(schedule::Position up_to, StreamIndex stream) const {
    std::optional<StageIndex> nearest;
    for (std::uint32_t s = 0; s < program_.stages.size() && program_.stages[s].at < up_to; ++s) {
      if (runs_on({s}, stream)) nearest = StageIndex{s};
    }
    return nearest;
  }

  void try_above(const WrittenWait& wait, const Streams& streams, StageIndex reader, StageIndex covered) {
    const auto reading = sample_of(program_, reader);
    const auto work = sample_of(program_, covered);
    if (!reading || !work || !examined_.order().before(*work, *reading)) return;
    const schedule::WaitStep moved{streams.source, streams.waiter};
    Schedule edited = without(schedule_, wait);
    insert_above(edited, program_.stages[covered.index()].at, {moved});
    const Program changed = unroll(edited, examined_.options());
    if (HappensBefore(changed, false).before(*work, *reading)) return;  // it is needed some other way
    for (const Finding& finding : findings_of(Examined(edited, examined_.options()))) {
      if (!known_.contains(finding.key)) return;
    }
    const std::int64_t iteration = program_.operation(*reading).iteration;
    const auto named = [&](OperationIndex op) {
      const Operation& one = program_.operation(op);
      return name_of(program_.stage(one.stage), one.batch - iteration);
    };
    LostOverlap lost{
        .waiter = named(*reading),
        .needless = named(*work),
        .stream = schedule_.stream(streams.waiter).name,
        .source = schedule_.stream(streams.source).name,
        .line = line_of(program_, program_.operation(*reading)),
        .wait_line = wait.line,
        .needless_line = line_of(program_, program_.operation(*work)),
        .text = fmt::format("In {} the host waits for {}, and {} waits for all that {} has by then, {} included, "
                            "which it does not need yet.",
                            named(*reading), schedule_.stream(streams.waiter).name,
                            schedule_.stream(streams.waiter).name, schedule_.stream(streams.source).name, named(*work)),
        .fix = fmt::format("{} above {} ({}) instead of in line {}", text_of(schedule_, moved),
                           place_of(program_.stages[covered.index()]), name_of(program_.stage(covered)), wait.line)};
    losses_.push_back({std::move(lost), std::move(edited)});
  }

  const Examined& examined_;
  const Program& program_;
  const Schedule& schedule_;
  std::set<FindingKey> known_;
  std::vector<MendedLoss> losses_;
};

}  // namespace

std::vector<MendedLoss> find_lost_overlaps(const Examined& examined) { return LossFinder(examined).run(); }

}  // namespace interlace::check
