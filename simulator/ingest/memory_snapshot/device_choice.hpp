#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest::memory_snapshot {

/// The device of a snapshot that its rank worked on: `wanted` where the snapshot knows it, else the one with the most
/// events, then the most segments, then the lowest ordinal. None where it has no device. What it says of others counts
/// memory_snapshot.other_device.
[[nodiscard]] const DeviceSnapshot* choose_device(const Snapshot& snapshot, std::optional<std::int64_t> wanted,
                                                  Diagnostics& diagnostics);

/// The ordinal of the device on which most of the rank's device work ran, by rank; none without such work.
[[nodiscard]] std::vector<std::optional<std::int64_t>> devices_of_ranks(const trace::Trace& trace);

/// Which snapshot belongs to each rank, as attach_snapshots says. As many snapshots as ranks.
[[nodiscard]] std::vector<std::size_t> snapshots_of_ranks(std::span<const Snapshot> snapshots,
                                                          std::span<const std::optional<std::int64_t>> devices);

}  // namespace interlace::ingest::memory_snapshot
