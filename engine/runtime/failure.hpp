#pragma once

#include <exception>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kDeadlock{"engine.deadlock"};
inline constexpr ErrorCode kStalled{"engine.stalled"};
inline constexpr ErrorCode kInternal{"engine.internal"};
inline constexpr ErrorCode kNoGpu{"engine.no_gpu"};
inline constexpr ErrorCode kOutOfMemory{"engine.out_of_memory"};

/// "rank 1, embedding_lookup 12": where a rank is; `range` may be empty.
[[nodiscard]] std::string place_of(int rank, const std::string& range);

/// A failure as the user is to see it: an Error keeps its code and gets the place in front of its own; anything else
/// becomes engine.out_of_memory or engine.internal.
[[nodiscard]] Error placed(const std::exception_ptr& failure, const std::string& place);

}  // namespace interlace::engine
