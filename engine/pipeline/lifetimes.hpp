#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kUnsupportedStage{"engine.unsupported_stage"};

/// Things of a batch that nothing will touch any more.
struct Releases {
  struct OfModules {
    schedule::Resource resource;
    std::vector<std::size_t> modules;  ///< whose, where it exists once a module; else all
  };
  std::vector<OfModules> resources;
  std::vector<std::string> named;
};

/// Behind which step the host gives the memory of each thing of a batch back; keys point into the schedule. What is in
/// none goes with its batch, at the end of the iteration that trains it.
using ReleasePlan = std::map<const schedule::StageStep*, Releases>;

/// The plan of a schedule. A thing goes behind the step that `frees` it; else behind the last step that touches it, or
/// where its maker's `kept_until` says, whichever is later. "Later" is the host's order over iterations: a step of
/// batch i+n works n iterations ahead, so the last one is that with the nearest batch, and of those the lowest in the
/// file. What exists once a module goes module by module, behind steps that concern this one. modules: their names.
/// Throws engine.unsupported_stage where a step touches what is freed above it, or frees what lives through the
/// training.
[[nodiscard]] ReleasePlan plan_releases(const schedule::Schedule& schedule, const std::vector<std::string>& modules);

}  // namespace interlace::engine
