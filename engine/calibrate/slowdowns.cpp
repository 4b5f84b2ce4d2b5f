#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
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
        stamps_(Memory::Place::kDevice, 2 * sizeof(std::uint64_t)),
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
      case Class::kCompute: launch_multiply(sum_.as<float>(), sms_ * 2 * 40, 120, stream); break;
      case Class::kStreaming: launch_copy(to_.as<void>(), from_.as<void>(), kBytes, stream); break;
      case Class::kGather: launch_gather(from_.as<void>(), sum_.as<float>(), kBytes / 512, kBytes / 512, stream); break;
      case Class::kHostToDevice: copy(to_.as<void>(), host_.as<void>()); break;
      case Class::kDeviceToHost: copy(host_.as<void>(), from_.as<void>()); break;
      case Class::kCollective: break;  // of all devices: Ranks
    }
  }

  /// Keeps a stream busy until the host has queued what follows: an event at its begin would come to an idle stream at
  /// once, and the time from there would hold how long the host takes to launch.
  void hold(cudaStream_t stream) const {
    constexpr std::uint64_t kTimeToQueue = 100'000;
    launch_stamped(stamps_.as<std::uint64_t>(), kTimeToQueue, stream);
  }

 private:
  static constexpr std::size_t kBytes = 512 * kMega;
  static constexpr std::size_t kCopied = 16 * kMega;
  int device_ = 0;
  int sms_ = 0;
  Memory from_;
  Memory to_;
  Memory sum_;
  Memory stamps_;
  Memory host_;
};

class Pairs {
 public:
  Pairs(int devices, const Effort& effort) : effort_(effort) {
    use_device(0);
    mine_ = std::make_unique<Stream>();
    others_ = std::make_unique<Stream>();
    work_ = std::make_unique<Workshop>();
    if (devices > 1) ranks_ = std::make_unique<Ranks>(devices, kLongExchange);
    use_device(0);
  }

  [[nodiscard]] bool can(Class kind) const { return kind != Class::kCollective || ranks_ != nullptr; }

  struct Time {
    double us = 0;            ///< of a piece
    double covered_part = 0;  ///< of that time, while the other work was running or queued
  };
  /// Of work of `kind` on the first device, alone: in as many pieces at once as beside `beside`.
  Time time_alone(Class kind, Class beside) {
    return median_of([&] { return alone(kind, beside == Class::kCollective ? 1 : kPieces); });
  }
  /// The same while work of `beside` runs there as well.
  Time time_beside(Class kind, Class beside) {
    return median_of(
        [&] { return beside == Class::kCollective ? under_a_collective(kind) : amid_others(kind, beside); });
  }

 private:
  template <class Once>
  Time median_of(const Once& once) {
    std::vector<double> times;
    std::vector<double> covered;
    for (int i = 0; i <= effort_.repeats; ++i) {
      const Time one = once();
      if (i == 0) continue;  // warms up
      times.push_back(one.us);
      covered.push_back(one.covered_part);
    }
    return {median(std::move(times)), median(std::move(covered))};
  }

  static constexpr std::size_t kExchanged = 128 * kMega;
  static constexpr std::size_t kLongExchange = 1024 * kMega;
  static constexpr int kPieces = 6;
  static constexpr int kMostPieces = 2000;

  void queue(Class kind, const Stream& stream, std::size_t exchanged = kExchanged) {
    if (kind == Class::kCollective) {
      ranks_->queue(Collective::kAllToAll, exchanged);
      use_device(0);
    } else {
      work_->queue(kind, stream.get());
    }
  }
  [[nodiscard]] const Stream& stream_of(Class kind, const Stream& usual) const {
    return kind == Class::kCollective ? ranks_->stream(0) : usual;
  }

  Time alone(Class kind, int pieces) {
    const Stream& stream = stream_of(kind, *mine_);
    const Event begin;
    const Event end;
    work_->hold(stream.get());
    begin.record(stream);
    for (int i = 0; i < pieces; ++i) queue(kind, stream);
    end.record(stream);
    drain();
    return {microseconds(begin, end) / pieces, 0};
  }

  /// One piece within one long collective, which holds its SMs from before the piece to behind it: a second collective
  /// would have to wait until all blocks of the piece have theirs.
  Time under_a_collective(Class kind) {
    const Event begin;
    const Event end;
    const Event exchanged;
    queue(Class::kCollective, *others_, kLongExchange);
    exchanged.record(ranks_->stream(0));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    work_->hold(mine_->get());
    begin.record(*mine_);
    queue(kind, *mine_);
    end.record(*mine_);
    drain();
    const double us = microseconds(begin, end);
    return {us, std::clamp(microseconds(begin, exchanged) / us, 0.0, 1.0)};
  }

  /// Some pieces, beside others that are refilled until they are done.
  Time amid_others(Class kind, Class beside) {
    const Stream& stream = stream_of(kind, *mine_);
    const Event begin;
    const Event end;
    for (int i = 0; i < kPieces; ++i) queue(beside, *others_);
    work_->hold(stream.get());
    begin.record(stream);
    for (int i = 0; i < kPieces; ++i) queue(kind, stream);
    end.record(stream);
    for (int piece = 0; piece < kMostPieces && !end.done(); ++piece) {
      queue(beside, *others_);
      if (piece % kPieces != kPieces - 1) continue;
      // No further ahead than some pieces, so that the end is not buried.
      const Event queued;
      queued.record(*others_);
      while (!queued.done() && !end.done()) {
      }
    }
    drain();
    return {microseconds(begin, end) / kPieces, 1};
  }

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
    for (const Class beside : kClasses) {
      // Two of one class on two streams share by taking turns: NCCL allows no two collectives of one communicator.
      if (!pairs.can(beside) || beside == kind) continue;
      const double alone = pairs.time_alone(kind, beside).us;
      const auto together = pairs.time_beside(kind, beside);
      rows.push_back({{"work", to_string(kind)},
                      {"beside", to_string(beside)},
                      {"alone_us", alone},
                      {"beside_us", together.us},
                      {"covered_part", together.covered_part},
                      {"slowdown", together.us / alone}});
    }
  }
  return rows;
}

}  // namespace interlace::calibrate
