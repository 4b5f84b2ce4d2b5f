#pragma once

namespace interlace::engine {

/// Of the figures in reports.
inline constexpr double kBytesPerMegabyte = 1e6;
inline constexpr double kSecondsPerMillisecond = 1e-3;

}  // namespace interlace::engine
