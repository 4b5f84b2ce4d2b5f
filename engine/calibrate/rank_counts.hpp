#pragma once

#include <vector>

namespace interlace::calibrate {

/// Of how many ranks collectives are measured on so many devices: the powers of two, and all of them.
[[nodiscard]] inline std::vector<int> rank_counts(int devices) {
  std::vector<int> counts;
  for (int count = 2; count < devices; count *= 2) counts.push_back(count);
  if (devices > 1) counts.push_back(devices);
  return counts;
}

}  // namespace interlace::calibrate
