#pragma once

#include "engine/embedding/kernels.hpp"

namespace interlace::engine::cpu {

/// What to do about values that nobody wrote so.
inline constexpr const char* kDamageAdvice =
    "memory was read before it was written, or after it was given back: check the waits of the schedule";

/// what: is wrong with the values that were read.
[[noreturn]] inline void refuse_damaged(const char* what) { throw Error(kDamagedInput, "", what, kDamageAdvice); }

}  // namespace interlace::engine::cpu
