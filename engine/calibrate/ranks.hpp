#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/kernels.hpp"

namespace interlace::calibrate {

enum class Collective { kAllToAll, kAllReduce, kAllGather, kReduceScatter };
inline constexpr std::array kCollectives{Collective::kAllToAll, Collective::kAllReduce, Collective::kAllGather,
                                         Collective::kReduceScatter};

[[nodiscard]] inline const char* to_string(Collective function) {
  switch (function) {
    case Collective::kAllToAll: return "all_to_all";
    case Collective::kAllReduce: return "all_reduce";
    case Collective::kAllGather: return "all_gather";
    case Collective::kReduceScatter: return "reduce_scatter";
  }
  return "";
}

/// A rank a device, all in this process, with a stream and buffers each.
class Ranks {
 public:
  Ranks(int count, std::size_t most_bytes) {
    std::vector<int> devices;
    for (int d = 0; d < count; ++d) devices.push_back(d);
    communicators_.resize(devices.size());
    check(ncclCommInitAll(communicators_.data(), count, devices.data()), "ncclCommInitAll");
    for (const int d : devices) {
      use_device(d);
      sides_.push_back({Memory(Memory::Place::kDevice, most_bytes), Memory(Memory::Place::kDevice, most_bytes),
                        Memory(Memory::Place::kDevice, 2 * sizeof(std::uint64_t)), Stream(), Event(), Event()});
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  Ranks(Ranks&&) = delete;
  Ranks& operator=(Ranks&&) = delete;
  ~Ranks() {
    for (const ncclComm_t communicator : communicators_) ncclCommDestroy(communicator);
  }

  [[nodiscard]] int count() const { return static_cast<int>(sides_.size()); }
  [[nodiscard]] const Stream& stream(int rank) const { return sides_[static_cast<std::size_t>(rank)].stream; }

  /// Queues one on all ranks. `bytes`: what a rank gives in, of an all-gather what it ends up with.
  void queue(Collective function, std::size_t bytes) {
    const std::size_t floats = bytes / sizeof(float);
    const std::size_t part = floats / sides_.size();
    check(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t rank = 0; rank < sides_.size(); ++rank) {
      const Side& side = sides_[rank];
      auto* in = side.in.as<float>();
      auto* out = side.out.as<float>();
      const ncclComm_t communicator = communicators_[rank];
      const cudaStream_t stream = side.stream.get();
      switch (function) {
        case Collective::kAllReduce:
          check(ncclAllReduce(in, out, floats, ncclFloat, ncclSum, communicator, stream), "ncclAllReduce");
          break;
        case Collective::kAllGather:
          check(ncclAllGather(in, out, part, ncclFloat, communicator, stream), "ncclAllGather");
          break;
        case Collective::kReduceScatter:
          check(ncclReduceScatter(in, out, part, ncclFloat, ncclSum, communicator, stream), "ncclReduceScatter");
          break;
        case Collective::kAllToAll:
          for (std::size_t peer = 0; peer < sides_.size(); ++peer) {
            check(ncclSend(in + peer * part, part, ncclFloat, static_cast<int>(peer), communicator, stream),
                  "ncclSend");
            check(ncclRecv(out + peer * part, part, ncclFloat, static_cast<int>(peer), communicator, stream),
                  "ncclRecv");
          }
          break;
      }
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

  /// Of one, on the rank where it takes least: that one came last. The devices are kept busy until it is queued on all.
  double time_us(Collective function, std::size_t bytes) {
    constexpr std::uint64_t kTimeToQueue = 500'000;
    synchronise();
    for (std::size_t d = 0; d < sides_.size(); ++d) {
      use_device(static_cast<int>(d));
      launch_stamped(sides_[d].stamps.as<std::uint64_t>(), kTimeToQueue, sides_[d].stream.get());
      sides_[d].begin.record(sides_[d].stream);
    }
    queue(function, bytes);
    for (std::size_t d = 0; d < sides_.size(); ++d) {
      use_device(static_cast<int>(d));
      sides_[d].end.record(sides_[d].stream);
    }
    synchronise();
    double least = microseconds(sides_.front().begin, sides_.front().end);
    for (const Side& side : sides_) least = std::min(least, microseconds(side.begin, side.end));
    use_device(0);
    return least;
  }

  void synchronise() const {
    for (std::size_t d = 0; d < sides_.size(); ++d) {
      use_device(static_cast<int>(d));
      sides_[d].stream.synchronise();
    }
    use_device(0);
  }

 private:
  struct Side {
    Memory in;
    Memory out;
    Memory stamps;
    Stream stream;
    Event begin;
    Event end;
  };
  std::vector<ncclComm_t> communicators_;
  std::vector<Side> sides_;
};

}  // namespace interlace::calibrate
