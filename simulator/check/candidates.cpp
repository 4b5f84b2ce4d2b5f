#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "simulator/check/edits.hpp"
#include "simulator/check/repairs.hpp"
#include "simulator/check/words.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::check {

namespace {

using schedule::Schedule;
using schedule::StageStep;
using schedule::StreamIndex;
using schedule::ValidateMode;
using schedule::WaitStep;

class Maker {
 public:
  Maker(const Examined& examined, const Finding& finding)
      : program_(examined.runs()[finding.run].program),
        schedule_(*program_.schedule),
        finding_(finding),
        earlier_(program_.operation(finding.conflict.earlier)),
        later_(program_.operation(finding.conflict.later)) {}

  std::vector<Candidate> run() {
    switch (finding_.key.kind) {
      case HazardKind::kFreeBeforeLastUse:
        record_stream();
        wait_for_streams();
        leave_waits_out();
        break;
      case HazardKind::kReadAfterFree: keep(); break;
      case HazardKind::kUnfinishedHostRead: read_in_order(); break;
      default:
        wait_for_streams();
        wait_for_event();
        break;
    }
    return std::move(made_);
  }

 private:
  void add(Schedule edited, std::string text, bool adds_waits = true) {
    if (schedule::find_problems(edited).empty()) made_.push_back({std::move(edited), std::move(text), adds_waits});
  }

  [[nodiscard]] const schedule::PlacedStep& placed(StageIndex stage) const { return program_.stages[stage.index()]; }

  [[nodiscard]] std::string where(StageIndex stage) const {
    return fmt::format("{} ({})", place_of(placed(stage)), name_of(program_.stage(stage)));
  }

  /// None for the host; a collective starts behind the stream of its stage.
  [[nodiscard]] std::optional<StreamIndex> stream_of(const Operation& op) const {
    const Lane& lane = program_.lanes[op.lane.index()];
    if (lane.kind == Lane::Kind::kStream) return schedule_.stream_named(lane.name);
    if (lane.kind == Lane::Kind::kHost) return std::nullopt;
    return schedule_.resolve(program_.stage(op.stage).stream);
  }

  [[nodiscard]] std::vector<StreamIndex> real_streams() const {
    std::vector<StreamIndex> streams;
    for (StreamIndex stream{0}; stream.index() < schedule_.streams.size(); ++stream.value) {
      if (schedule_.resolve(stream) == stream) streams.push_back(stream);
    }
    return streams;
  }

  void add_wait(Schedule edited, const WaitStep& wait, const std::string& besides = {}) {
    const std::string text = fmt::format("{}{} above {}", besides, text_of(schedule_, wait), where(later_.stage));
    insert_above(edited, placed(later_.stage).at, {wait});
    add(std::move(edited), text);
  }

  /// The stream of the earlier side first; others may be behind it already and mend more.
  void wait_for_streams() {
    const auto waiter = stream_of(later_);
    if (!waiter) return;
    const auto first = stream_of(earlier_);
    std::vector<StreamIndex> sources;
    if (first) sources.push_back(*first);
    for (const StreamIndex stream : real_streams()) {
      if (stream != first) sources.push_back(stream);
    }
    for (const StreamIndex source : sources) {
      if (source != *waiter) add_wait(schedule_, WaitStep{source, *waiter});
    }
  }

  void wait_for_event() {
    const auto waiter = stream_of(later_);
    if (!waiter || earlier_.lane == Program::kHost) return;
    Schedule edited = schedule_;
    auto& step = std::get<StageStep>(step_at(edited, placed(earlier_.stage).at).action);
    const auto event_batch = static_cast<std::int32_t>(earlier_.batch - later_.iteration);
    std::string besides;
    if (!step.record) {
      step.record = new_name(schedule_, std::string(schedule::to_string(step.stage)) + "_done");
      besides = fmt::format(R"("record": "{}" in {}, and )", *step.record, where(earlier_.stage));
    }
    const std::string event = *step.record;
    add_wait(std::move(edited), WaitStep{event, *waiter, event_batch}, besides);
  }

  void record_stream() {
    const Buffer& buffer = program_.buffer(*finding_.conflict.buffer);
    if (!buffer.freed_by && !buffer.maker) return;
    const StageIndex stage = buffer.freed_by ? *buffer.freed_by : program_.operation(*buffer.maker).stage;
    std::vector<StreamIndex> streams = real_streams();  // behind a collective is any that waited for it
    if (earlier_.lane != program_.collectives())
      std::erase_if(streams, [&](StreamIndex s) { return s != stream_of(earlier_); });
    for (const StreamIndex stream : streams) {
      Schedule edited = schedule_;
      auto& step = std::get<StageStep>(step_at(edited, placed(stage).at).action);
      if (std::ranges::find(step.record_stream, stream) != step.record_stream.end()) continue;
      step.record_stream.push_back(stream);
      add(std::move(edited),
          fmt::format(R"("{}" in "record_stream" of {})", schedule_.stream(stream).name, where(stage)));
    }
  }

  /// A collective holds its buffers until a stream first waits for it: without that wait it holds them longer.
  void leave_waits_out() {
    if (earlier_.lane != program_.collectives()) return;
    for (const WrittenWait& wait : written_waits(schedule_)) {
      const std::string where = wait.line > 0 ? fmt::format(" in line {}", wait.line) : "";
      add(without(schedule_, wait), fmt::format("without {}{}", wait.text, where), false);
    }
  }

  void keep() {
    const StageIndex stage = *program_.buffer(*finding_.conflict.buffer).freed_by;
    Schedule edited = schedule_;
    auto& step = std::get<StageStep>(step_at(edited, placed(stage).at).action);
    std::erase(step.frees, finding_.key.datum);
    add(std::move(edited), fmt::format(R"(without "{}" in "frees" of {})", finding_.key.datum, where(stage)), false);
  }

  void read_in_order() {
    Schedule edited = schedule_;
    const schedule::Position at = placed(later_.stage).at;
    auto& step = std::get<StageStep>(step_at(edited, at).action);
    std::string text;
    if (step.mode == ValidateMode::kUnsafe) {
      step.mode = ValidateMode::kEvent;
      if (!step.record) step.record = new_name(schedule_, "validated");
      text = fmt::format(R"("mode": "event", "record": "{}" in {}, and )", *step.record, where(later_.stage));
    }
    const WaitStep wait{*step.record, std::nullopt, step.batch};
    text += text_of(schedule_, wait) + " where the host needs the value, at the earliest below it";
    insert_below(edited, at, {wait});
    add(std::move(edited), text, false);
  }

  const Program& program_;
  const Schedule& schedule_;
  const Finding& finding_;
  const Operation& earlier_;
  const Operation& later_;
  std::vector<Candidate> made_;
};

}  // namespace

std::vector<Candidate> candidates(const Examined& examined, const Finding& finding) {
  return Maker(examined, finding).run();
}

}  // namespace interlace::check
