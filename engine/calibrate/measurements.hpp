#pragma once

#include <nlohmann/json.hpp>

namespace interlace::calibrate {

using Json = nlohmann::ordered_json;

/// How much is measured: the whole takes about a minute and a half on two GPUs, the quick one a few seconds.
struct Effort {
  int repeats = 7;  ///< of which the median counts
  bool quick = false;
};

/// Bandwidth of the device's memory in GB/s: read, write, copy (both directions counted), scattered rows.
[[nodiscard]] Json measure_memory(const Effort& effort);
/// GB/s between host and device: pinned and pageable, each direction alone and both at once, and all devices at once.
[[nodiscard]] Json measure_host_links(int devices, const Effort& effort);
/// A row a pair of devices: GB/s one way and both ways, whether directly.
[[nodiscard]] Json measure_peer_links(int devices, const Effort& effort);
/// Microseconds of launches, events and waits.
[[nodiscard]] Json measure_latencies(const Effort& effort);
/// A row a function, number of ranks and size: microseconds from the start on the last rank to the last end.
[[nodiscard]] Json measure_collectives(int devices, const Effort& effort);
/// A row an ordered pair of classes: how many times as long work of the one takes while work of the other runs.
[[nodiscard]] Json measure_slowdowns(int devices, const Effort& effort);

}  // namespace interlace::calibrate
