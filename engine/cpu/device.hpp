#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/cpu/cluster.hpp"
#include "engine/cpu/pool.hpp"
#include "engine/runtime/device.hpp"

namespace interlace::engine::cpu {

/// One rank's share of a CpuCluster. To be made and used by that rank's host.
class CpuDevice : public Device {
 public:
  CpuDevice(CpuCluster& cluster, int rank);
  CpuDevice(const CpuDevice&) = delete;
  CpuDevice& operator=(const CpuDevice&) = delete;
  CpuDevice(CpuDevice&&) = delete;
  CpuDevice& operator=(CpuDevice&&) = delete;
  /// What was queued and never waited for does not run any more.
  ~CpuDevice() override { cluster_->close_queues(rank_); }

  [[nodiscard]] StreamId make_stream(const std::string& name, int priority) override;
  void launch(StreamId stream, Work work) override;
  void copy(StreamId stream, void* to, const void* from, std::size_t bytes) override;
  [[nodiscard]] Event record(StreamId stream) override;
  [[nodiscard]] Event record_time(StreamId stream) override;
  [[nodiscard]] double seconds_between(const Event& from, const Event& to) const override;
  void wait(StreamId waiter, const Event& event) override;
  void host_wait(const Event& event) override;
  void host_read(const Event& copied, StreamId stream, void* at, std::size_t bytes) override;
  void synchronize() override;
  [[nodiscard]] std::shared_ptr<Block> allocate(std::size_t bytes, StreamId pool) override;
  [[nodiscard]] std::shared_ptr<Block> allocate_host(std::size_t bytes) override;
  [[nodiscard]] MemoryPeaks peaks() const override { return pool_.peaks(); }
  void enter(const std::string& range) override { cluster_->enter(rank_, range); }
  void leave() noexcept override { cluster_->leave(rank_); }

  /// The stream takes part in the collectives of a group of all ranks.
  void join(std::size_t group, StreamId stream) { cluster_->join(group, rank_, queue_of(stream)); }
  virtual void post(std::size_t group, StreamId stream, std::unique_ptr<CpuPost> post);

 private:
  [[nodiscard]] CpuCluster::QueueIndex queue_of(StreamId stream) const { return queues_[stream.index()]; }

  CpuCluster* cluster_;
  int rank_;
  std::vector<CpuCluster::QueueIndex> queues_;  ///< by stream
  std::size_t reads_ = 0;                       ///< of the host, so far
  CpuPool pool_;
};

}  // namespace interlace::engine::cpu
