#pragma once

#include "simulator/memory/lifetimes.hpp"

namespace interlace::memory {

/// lifetimes() for a loop that lets go behind the last use of what its stages leave (stages::Frees::kBehindLastUse).
[[nodiscard]] Lifetimes lifetimes_behind_last_use(const RecordedMemory& memory, const schedule::Schedule& recorded,
                                                  const schedule::Schedule& wanted);

}  // namespace interlace::memory
