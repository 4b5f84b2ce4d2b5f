#include <memory>
#include <string>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/measurements.hpp"
#include "engine/calibrate/rank_counts.hpp"
#include "engine/calibrate/ranks.hpp"

namespace interlace::calibrate {

Json measure_collectives(int devices, const Effort& effort) {
  Json rows = Json::array();
  for (const int count : rank_counts(devices)) {
    const std::size_t most = std::size_t{effort.quick ? 16U : 256U} << 20;
    Ranks ranks(count, most);
    for (const Collective function : kCollectives) {
      for (std::size_t bytes = std::size_t{64} << 10; bytes <= most; bytes *= 4) {
        std::vector<double> times;
        for (int i = 0; i <= effort.repeats; ++i) {
          const double us = ranks.time_us(function, bytes);
          if (i > 0) times.push_back(us);
        }
        rows.push_back({{"function", to_string(function)},
                        {"ranks", count},
                        {"bytes_a_rank", bytes},
                        {"time_us", median(std::move(times))}});
      }
    }
  }
  return rows;
}

}  // namespace interlace::calibrate
