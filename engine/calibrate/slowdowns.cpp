#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/kernels.hpp"
#include "engine/calibrate/measurements.hpp"
#include "engine/calibrate/ranks.hpp"

namespace interlace::calibrate {

namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;

enum class Class { kCompute, kStreaming, kGather, kHostToDevice, kDeviceToHost, kCollective };
constexpr std::array kClasses{Class::kCompute,      Class::kStreaming,    Class::kGather,
                              Class::kHostToDevice, Class::kDeviceToHost, Class::kCollective};

const char* to_string(Class kind) {
  switch (kind) {
    case Class::kCompute: return "compute";
    case Class::kStreaming: return "streaming";
    case Class::kGather: return "gather";
    case Class::kHostToDevice: return "host_to_device";
    case Class::kDeviceToHost: return "device_to_host";
    case Class::kCollective: return "collective";
  }
  return "";
}

/// Work of every class on one device, in pieces of some hundred microseconds.
class Workshop {
 public:
  Workshop()
      : from_(Memory::Place::kDevice, kBytes),
        to_(Memory::Place::kDevice, kBytes),
        sum_(Memory::Place::kDevice, 16),
        host_(Memory::Place::kPinned, kCopied) {
    check(cudaGetDevice(&device_), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device_), "cudaDeviceGetAttribute");
  }

  void queue(Class kind, cudaStream_t stream) const {
    const auto copy = [&](void* to, const void* from) {
      check(cudaMemcpyAsync(to, from, kCopied, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    };
    switch (kind) {
      // Many rounds of blocks, so that what SMs others hold is a part of the time and not a whole round.
      case Class::kCompute: launch_multiply(sum_.as<float>(), sms_ * 8 * 20, 60, stream); break;
      case Class::kStreaming: launch_copy(to_.as<void>(), from_.as<void>(), kBytes, stream); break;
      case Class::kGather: launch_gather(from_.as<void>(), sum_.as<float>(), kBytes / 512, kBytes / 512, stream); break;
      case Class::kHostToDevice: copy(to_.as<void>(), host_.as<void>()); break;
      case Class::kDeviceToHost: copy(host_.as<void>(), from_.as<void>()); break;
      case Class::kCollective: break;  // of all devices: Ranks
    }
  }

 private:
  static constexpr std::size_t kBytes = 512 * kMega;
  static constexpr std::size_t kCopied = 16 * kMega;
  int device_ = 0;
  int sms_ = 0;
  Memory from_;
  Memory to_;
  Memory sum_;
  Memory host_;
};

class Pairs {
 public:
  Pairs(int devices, const Effort& effort) : effort_(effort) {
    use_device(0);
    mine_ = std::make_unique<Stream>();
    others_ = std::make_unique<Stream>();
    work_ = std::make_unique<Workshop>();
    if (devices > 1) ranks_ = std::make_unique<Ranks>(devices, kExchanged);
    use_device(0);
  }

  [[nodiscard]] bool can(Class kind) const { return kind != Class::kCollective || ranks_ != nullptr; }

  /// Microseconds of some pieces of `kind` on the first device; with `beside`, while such work runs there as well.
  double time_us(Class kind, const Class* beside) {
    std::vector<double> times;
    for (int i = 0; i <= effort_.repeats; ++i) {
      const double us = once(kind, beside);
      if (i > 0) times.push_back(us);
    }
    return median(std::move(times));
  }

 private:
  static constexpr std::size_t kExchanged = 128 * kMega;
  static constexpr int kPieces = 6;

  void queue(Class kind, const Stream& stream) {
    if (kind == Class::kCollective) {
      ranks_->queue(Collective::kAllToAll, kExchanged);
      use_device(0);
    } else {
      work_->queue(kind, stream.get());
    }
  }
  [[nodiscard]] const Stream& stream_of(Class kind, const Stream& usual) const {
    return kind == Class::kCollective ? ranks_->stream(0) : usual;
  }

  double once(Class kind, const Class* beside) {
    const Stream& stream = stream_of(kind, *mine_);
    const Event begin;
    const Event end;
    if (beside == nullptr) {
      begin.record(stream);
      for (int i = 0; i < kPieces; ++i) queue(kind, stream);
      end.record(stream);
      drain();
      return microseconds(begin, end);
    }
    // The other work begins first and is refilled from here until the timed one is done.
    const Stream& other = stream_of(*beside, *others_);
    for (int i = 0; i < kPieces; ++i) queue(*beside, other);
    begin.record(stream);
    for (int i = 0; i < kPieces; ++i) queue(kind, stream);
    end.record(stream);
    for (int piece = 0; piece < kMostPieces && !end.done(); ++piece) {
      queue(*beside, other);
      const Event queued;
      queued.record(other);
      // No further ahead than some pieces, so that the end is not buried.
      if (piece % kPieces == kPieces - 1) {
        while (!queued.done() && !end.done()) {
        }
      }
    }
    drain();
    return microseconds(begin, end);
  }
  static constexpr int kMostPieces = 2000;

  void drain() const {
    mine_->synchronise();
    others_->synchronise();
    if (ranks_) ranks_->synchronise();
    use_device(0);
  }

  Effort effort_;
  std::unique_ptr<Stream> mine_;
  std::unique_ptr<Stream> others_;
  std::unique_ptr<Workshop> work_;
  std::unique_ptr<Ranks> ranks_;
};

}  // namespace

Json measure_slowdowns(int devices, const Effort& effort) {
  Pairs pairs(devices, effort);
  Json rows = Json::array();
  for (const Class kind : kClasses) {
    if (!pairs.can(kind)) continue;
    const double alone = pairs.time_us(kind, nullptr);
    for (const Class beside : kClasses) {
      // Two of one class on two streams share by taking turns: NCCL allows no two collectives of one communicator.
      if (!pairs.can(beside) || beside == kind) continue;
      const double together = pairs.time_us(kind, &beside);
      rows.push_back({{"work", to_string(kind)},
                      {"beside", to_string(beside)},
                      {"alone_us", alone},
                      {"beside_us", together},
                      {"slowdown", together / alone}});
    }
  }
  return rows;
}

}  // namespace interlace::calibrate
