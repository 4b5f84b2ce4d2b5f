#include "simulator/ingest/memory_snapshot/device_choice.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "simulator/ingest/memory_snapshot/flaws.hpp"

namespace interlace::ingest::memory_snapshot {

namespace {

const DeviceSnapshot* busiest(const Snapshot& snapshot) {
  const DeviceSnapshot* best = nullptr;
  for (const DeviceSnapshot& device : snapshot.devices) {
    const auto size = [](const DeviceSnapshot& one) { return std::tuple(one.events.size(), one.segments.size()); };
    if (best == nullptr || size(device) > size(*best)) best = &device;
  }
  return best;
}

}  // namespace

const DeviceSnapshot* choose_device(const Snapshot& snapshot, std::optional<std::int64_t> wanted,
                                    Diagnostics& diagnostics) {
  const auto known =
      std::ranges::find_if(snapshot.devices, [&](const auto& device) { return device.device == wanted; });
  const DeviceSnapshot* const chosen = known == snapshot.devices.end() ? busiest(snapshot) : &*known;
  if (chosen != nullptr) {
    diagnostics.count(kOtherDevice, snapshot.file.string(), static_cast<std::int64_t>(snapshot.devices.size()) - 1);
  }
  return chosen;
}

std::vector<std::optional<std::int64_t>> devices_of_ranks(const trace::Trace& trace) {
  std::vector<std::map<std::int64_t, std::size_t>> work(trace.ranks().size());
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (lane.kind != trace::LaneKind::kStream) continue;
    work[lane.rank.index()][lane.process] += trace.on_lane({i}).size();
  }
  std::vector<std::optional<std::int64_t>> devices;
  for (const auto& of_rank : work) {
    const auto most = std::ranges::max_element(of_rank, {}, [](const auto& entry) { return entry.second; });
    devices.push_back(most == of_rank.end() ? std::nullopt : std::optional(most->first));
  }
  return devices;
}

std::vector<std::size_t> snapshots_of_ranks(std::span<const Snapshot> snapshots,
                                            std::span<const std::optional<std::int64_t>> devices) {
  std::map<std::int64_t, std::size_t> by_device;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (const DeviceSnapshot* device = busiest(snapshots[i])) by_device.try_emplace(device->device, i);
  }
  std::vector<std::size_t> in_order(snapshots.size());
  std::iota(in_order.begin(), in_order.end(), std::size_t{0});
  if (by_device.size() != snapshots.size()) return in_order;
  std::vector<std::size_t> of_ranks;
  for (const auto& device : devices) {
    const auto known = device ? by_device.find(*device) : by_device.end();
    if (known == by_device.end()) return in_order;
    of_ranks.push_back(known->second);
    by_device.erase(known);  // two ranks on devices of one number: the number tells nothing
  }
  return of_ranks;
}

}  // namespace interlace::ingest::memory_snapshot
