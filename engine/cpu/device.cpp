#include "engine/cpu/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/cpu/damaged_input.hpp"

namespace interlace::engine::cpu {

namespace {

struct TimeOfHost : EventState {
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

[[noreturn]] void refuse_other_sizes() { refuse_damaged("the sizes of an exchange are not those of this batch"); }

}  // namespace

CpuDevice::CpuDevice(CpuCluster& cluster, int rank)
    : cluster_(&cluster),
      rank_(rank),
      pool_(
          {.record =
               [this](StreamId stream) {
                 auto event = std::make_shared<CpuEvent>();
                 cluster_->push_record(queue_of(stream), event);
                 return event;
               },
           .launch = [this](StreamId stream, Work work) { cluster_->push_work(queue_of(stream), std::move(work)); }}) {}

// A priority says who goes first where both could: the adversary decides that here.
StreamId CpuDevice::make_stream(const std::string& /*name*/, int /*priority*/) {
  queues_.push_back(cluster_->add_queue(rank_));
  return {static_cast<std::uint32_t>(queues_.size() - 1)};
}

void CpuDevice::launch(StreamId stream, Work work) {
  cluster_->push_work(queue_of(stream), std::move(work));
  cluster_->yield(rank_);
}

void CpuDevice::copy(StreamId stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  launch(stream, [to, from, bytes](NativeStream) { std::memcpy(to, from, bytes); });
}

Event CpuDevice::record(StreamId stream) {
  auto event = std::make_shared<CpuEvent>();
  cluster_->push_record(queue_of(stream), event);
  return event;
}

// Nothing is queued: taking times must not change what the adversary chooses.
Event CpuDevice::record_time(StreamId /*stream*/) { return std::make_shared<TimeOfHost>(); }

double CpuDevice::seconds_between(const Event& from, const Event& to) const {
  const auto at = [](const Event& event) { return static_cast<const TimeOfHost&>(*event).at; };
  return std::chrono::duration<double>(at(to) - at(from)).count();
}

void CpuDevice::wait(StreamId waiter, const Event& event) {
  cluster_->push_wait(queue_of(waiter), std::static_pointer_cast<CpuEvent>(event));
}

void CpuDevice::host_wait(const Event& event) { cluster_->block(rank_, std::static_pointer_cast<CpuEvent>(event)); }

void CpuDevice::host_read(const Event& copied, StreamId stream, void* at, std::size_t bytes) {
  const auto rank = static_cast<std::size_t>(rank_);
  auto* const values = static_cast<std::byte*>(at);
  const CpuOptions& options = cluster_->options();
  if (options.foreseen != nullptr && reads_ < options.foreseen->at(rank).size()) {
    const std::vector<std::byte>& foreseen = (*options.foreseen)[rank][reads_++];
    if (foreseen.size() == bytes) {
      std::ranges::copy(foreseen, values);
      launch(stream, [values, &foreseen](NativeStream) {
        if (!std::equal(foreseen.begin(), foreseen.end(), values)) refuse_other_sizes();
      });
      return;
    }
  }
  host_wait(copied);
  if (options.remember != nullptr) (*options.remember)[rank].emplace_back(values, values + bytes);
}

void CpuDevice::synchronize() {
  for (std::uint32_t stream = 0; stream < queues_.size(); ++stream) host_wait(record(StreamId{stream}));
}

std::shared_ptr<Block> CpuDevice::allocate(std::size_t bytes, StreamId pool) { return pool_.allocate(bytes, pool); }
std::shared_ptr<Block> CpuDevice::allocate_host(std::size_t bytes) { return pool_.allocate(bytes, std::nullopt); }

void CpuDevice::post(std::size_t group, StreamId stream, std::unique_ptr<CpuPost> post) {
  cluster_->push_post(queue_of(stream), group, std::move(post));
  cluster_->yield(rank_);
}

}  // namespace interlace::engine::cpu
