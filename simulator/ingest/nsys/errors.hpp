#pragma once

#include "simulator/base/error.hpp"

namespace interlace::ingest::nsys {

inline constexpr ErrorCode kNotAnExport{"nsys.not_an_export"};
inline constexpr ErrorCode kDamaged{"nsys.damaged"};
inline constexpr ErrorCode kUnknownSchema{"nsys.unknown_schema"};

}  // namespace interlace::ingest::nsys
