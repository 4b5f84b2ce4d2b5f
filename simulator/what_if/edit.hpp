#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "simulator/base/units.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::what_if {

/// The device work of a stage takes `by` times as long. Host time stays.
struct ScaleStage {
  schedule::Stage stage = schedule::Stage::kCompute;
  double by = 1.0;
  bool operator==(const ScaleStage&) const = default;
};

/// Kernels, collectives' among them, whose name the pattern is found in take `by` times as long.
struct ScaleKernels {
  std::string pattern;  ///< a regular expression in the syntax of RE2
  double by = 1.0;
  bool operator==(const ScaleKernels&) const = default;
};

/// Device work of a kind takes `by` times as long.
struct ScaleKind {
  replay::WorkKind kind = replay::WorkKind::kKernel;
  double by = 1.0;
  bool operator==(const ScaleKind&) const = default;
};

enum class Link : std::uint8_t {
  kGpu,   ///< between GPUs: what collectives use
  kHost,  ///< between GPU and host memory: what host copies use, and collectives where GPUs have no direct links
};

/// A link has `by` times the bandwidth. The latency of what crosses it stays.
struct ScaleLink {
  Link link = Link::kGpu;
  double by = 1.0;
  bool operator==(const ScaleLink&) const = default;
};

/// The host takes `by` times as long for all that it does itself; its waiting follows from the replay.
struct ScaleHost {
  double by = 1.0;
  bool operator==(const ScaleHost&) const = default;
};

/// Blocking copies and synchronising calls of a stage no longer block: the host goes on.
struct DropSync {
  schedule::Stage stage = schedule::Stage::kCompute;
  bool operator==(const DropSync&) const = default;
};

/// The stage is captured into CUDA graphs, one for each of its segments: the host launches it in one call, and on the
/// device its work follows each other without the host.
struct CaptureStage {
  schedule::Stage stage = schedule::Stage::kCompute;
  Nanoseconds host = 0;  ///< of a launch, without the recorder
  bool operator==(const CaptureStage&) const = default;
};

/// One more piece of device work at the end of a stage, on every rank and in every iteration. A stage that the
/// recording lacks consists of it alone.
struct AddWork {
  schedule::Stage stage = schedule::Stage::kCompute;
  Nanoseconds takes = 0;  ///< on the device, without company
  Nanoseconds host = 0;   ///< of the call that launches it
  replay::WorkKind kind = replay::WorkKind::kKernel;
  /// SMs that it occupies from begin to end. None: a kernel fills the GPU in rounds of blocks of 20 us; a collective
  /// holds as many as the widest of the recorded ones.
  std::optional<std::int32_t> sms;
  bool operator==(const AddWork&) const = default;
};

/// A what-if: one change to a recorded job.
struct Edit {
  std::variant<ScaleStage, ScaleKernels, ScaleKind, ScaleLink, ScaleHost, DropSync, CaptureStage, AddWork> change;
  std::string place;   ///< where it was read, e.g. "slow.json: edit 2"
  bool swept = false;  ///< marked as the one that a sweep varies (what_if/sweep.hpp)
};

/// The most that `by` of an edit may be, and that a given stage may take.
inline constexpr double kMostTimes = 1e6;
inline constexpr double kMostMicroseconds = 1e8;

/// In words, e.g. "optimizer_step takes 2 times as long on the device".
[[nodiscard]] std::string describe(const Edit& edit);
/// The same with this in place of its number: "the host takes x times as long".
[[nodiscard]] std::string describe(const Edit& edit, std::string_view number);

}  // namespace interlace::what_if
