#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/trace/operation.hpp"

namespace interlace::gui {

/// What joins two operations.
enum class DependencyKind : std::uint8_t {
  kLaunch,          ///< host call -> device work
  kEvent,           ///< device work -> work of another stream that waits for it
  kHostWait,        ///< device work -> host call that waits for it
  kCollectivePeer,  ///< the same collective on another rank
  kHandoff,         ///< host call -> call of a thread that was waiting for it
  kBackward,        ///< forward operation -> its backward
};
[[nodiscard]] std::string_view to_string(DependencyKind kind);

/// An arrow between two operations of a trace.
struct Dependency {
  trace::OperationId from;
  trace::OperationId to;
  DependencyKind kind = DependencyKind::kLaunch;

  bool operator==(const Dependency&) const = default;
};

}  // namespace interlace::gui
