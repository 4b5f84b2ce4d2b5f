#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/pipeline/lifetimes.hpp"
#include "engine/pipeline/stage_call.hpp"
#include "engine/runtime/device.hpp"
#include "simulator/base/error.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kUnknownModule{"engine.unknown_module"};

/// Runs a schedule on one rank's device: iteration by iteration, step by step, as docs/schedule_language.md says. The
/// prologue that fills the pipeline and its drain follow from the batches of the steps; there is no code for any
/// schedule in particular.
///
/// Each iteration i runs in a range "iteration i", each stage in one "<stage> <batch>". Stages tell their parts in
/// further ones (part_range.hpp).
class Interpreter {
 public:
  /// modules: the names of the sharded modules, in the order in which the model calls them. streams: by index in
  /// Schedule::streams; names of one stream have the same. All must outlive the interpreter.
  /// Throws engine.unknown_module where the schedule names a module that the model lacks, and as plan_releases() does.
  Interpreter(const schedule::Schedule& schedule, std::vector<std::string> modules, std::vector<StreamId> streams,
              Device& device, StageRunner& runner);

  /// before_iteration: told the number of each iteration, on the host, before its first step.
  void run(std::int64_t batches, const std::function<void(std::int64_t)>& before_iteration = {});

 private:
  struct Recorded {
    Event event;
    std::function<void()> on_host_wait;   ///< done once, at the end of the run where nobody has waited by then
    std::optional<Awaitable> collective;  ///< whose end the event is; a stream that waits takes its memory over
  };
  struct EventKey {
    std::string name;
    std::int64_t batch = 0;
    std::optional<std::size_t> module;  ///< none: the last that was recorded for the batch
    auto operator<=>(const EventKey&) const = default;
  };

  void run_step(const schedule::Step& step, std::optional<std::size_t> module);
  void run_stage(const schedule::StageStep& step, std::optional<std::size_t> module);
  void run_wait(const schedule::WaitStep& step, std::optional<std::size_t> module);
  void wait_on_host(Recorded& recorded);
  [[nodiscard]] StageCall call_of(const schedule::StageStep& step, std::optional<std::size_t> module) const;
  [[nodiscard]] std::vector<std::size_t> modules_of(const schedule::StageStep& step,
                                                    std::optional<std::size_t> module) const;
  [[nodiscard]] std::vector<std::size_t> all_modules() const;
  StageOutcome run_in_ranges(const StageCall& call);
  void release(const StageCall& call, std::optional<std::size_t> module);
  void keep_event(const std::string& name, std::int64_t batch, std::optional<std::size_t> module, Recorded recorded);
  void forget_old_events();
  [[nodiscard]] StreamId stream(schedule::StreamIndex index) const { return streams_[index.index()]; }

  const schedule::Schedule* schedule_;
  std::vector<std::string> modules_;
  std::vector<StreamId> streams_;
  Device* device_;
  StageRunner* runner_;
  ReleasePlan releases_;
  std::set<std::string> awaited_;          ///< events that streams wait for
  std::set<std::string> awaited_by_host_;  ///< events that the host waits for
  std::map<EventKey, std::shared_ptr<Recorded>> events_;
  std::int64_t iteration_ = 0;
  std::int64_t batches_ = 0;
};

/// A device stream for each real stream of the schedule, by index in Schedule::streams.
[[nodiscard]] std::vector<StreamId> make_streams(const schedule::Schedule& schedule, Device& device);

}  // namespace interlace::engine
