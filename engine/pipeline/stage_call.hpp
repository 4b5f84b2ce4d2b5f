#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/awaitable.hpp"
#include "engine/runtime/device.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

/// One stage of one batch, as a schedule asks for it.
struct StageCall {
  const schedule::StageStep* step = nullptr;
  std::int64_t batch = 0;
  StreamId stream;
  StreamId pool;                        ///< memory of the results comes from here
  std::vector<StreamId> record_stream;  ///< streams on which the results, and what the step frees, are used
  std::vector<std::size_t> modules;     ///< the sharded modules that it concerns
};

/// What a stage leaves to do for those who wait for it.
struct StageOutcome {
  /// A collective that the stage issued and no stream waits for yet; none: the stage ends with its stream.
  std::optional<Awaitable> collective;
  /// To be done when the host has waited for the event that the step records; at once where no step makes it wait.
  std::function<void()> on_host_wait;
};

/// Carries out stages. The interpreter knows no stage, and a runner knows no schedule.
class StageRunner {
 public:
  StageRunner() = default;
  StageRunner(const StageRunner&) = delete;
  StageRunner& operator=(const StageRunner&) = delete;
  StageRunner(StageRunner&&) = delete;
  StageRunner& operator=(StageRunner&&) = delete;
  virtual ~StageRunner() = default;

  virtual StageOutcome run(const StageCall& call) = 0;
  /// No later stage touches this thing of the batch. modules: whose, for a thing that exists once a module. users:
  /// streams on which it may still be used.
  virtual void release(schedule::Resource resource, std::int64_t batch, const std::vector<std::size_t>& modules,
                       const std::vector<StreamId>& users) = 0;
  /// The same for data that the schedule named.
  virtual void release_named(const std::string& name, std::int64_t batch, const std::vector<StreamId>& users) = 0;
  /// The iteration that trains the batch is over: what is left of it goes.
  virtual void end(std::int64_t batch) = 0;
};

}  // namespace interlace::engine
