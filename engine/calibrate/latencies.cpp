#include <chrono>
#include <functional>

#include "engine/calibrate/cuda_objects.hpp"
#include "engine/calibrate/kernels.hpp"
#include "engine/calibrate/measurements.hpp"

namespace interlace::calibrate {

namespace {

using Clock = std::chrono::steady_clock;

double us_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

/// Host time of a call in the middle of many that the device keeps up with.
double host_us_of(int calls, const Stream& stream, const std::function<void()>& call) {
  constexpr int kAtOnce = 100;
  std::vector<double> times;
  for (int done = 0; done < calls; done += kAtOnce) {
    const auto begin = Clock::now();
    for (int i = 0; i < kAtOnce; ++i) call();
    times.push_back(us_between(begin, Clock::now()) / kAtOnce);
    stream.synchronise();
  }
  return median(std::move(times));
}

/// From a launch on an idle stream to when the host sees what the kernel wrote.
double launch_to_seen_us(int times, const Stream& stream) {
  const Memory flag(Memory::Place::kPinned, sizeof(int));
  volatile int* seen = flag.as<volatile int>();
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    *seen = 0;
    const auto begin = Clock::now();
    launch_flag(seen, stream.get());
    while (*seen == 0) {
    }
    all.push_back(us_between(begin, Clock::now()));
    stream.synchronise();
  }
  return median(std::move(all));
}

/// From a launch on an idle stream to when a synchronisation of that stream has returned.
double launch_to_synchronised_us(int times, const Stream& stream) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    launch_nothing(stream.get());
    stream.synchronise();
    all.push_back(us_between(begin, Clock::now()));
  }
  return median(std::move(all));
}

/// What a write of the device to host memory takes until the host sees it: half of a round trip is not measurable
/// alone, so the device's clock tells how long a kernel ran whose begin and end the host saw.
struct Gaps {
  double same_stream_us = 0;  ///< from the end of a kernel to the start of the next, queued long before
  double event_wait_us = 0;   ///< the same across streams, through an event
};

Gaps gaps(int times) {
  constexpr std::uint64_t kLong = 200'000;  // the host is done with queueing by then
  const Stream one;
  const Stream other;
  const Memory stamps(Memory::Place::kPinned, 4 * sizeof(std::uint64_t));
  auto* first = stamps.as<std::uint64_t>();
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  std::vector<double> same;
  std::vector<double> across;
  for (int i = 0; i < times; ++i) {
    launch_stamped(first, kLong, one.get());
    launch_stamped(first + 2, 0, one.get());
    one.synchronise();
    same.push_back(static_cast<double>(first[2] - first[1]) * 1e-3);
    launch_stamped(first, kLong, one.get());
    check(cudaEventRecord(event, one.get()), "cudaEventRecord");
    check(cudaStreamWaitEvent(other.get(), event, 0), "cudaStreamWaitEvent");
    launch_stamped(first + 2, 0, other.get());
    other.synchronise();
    across.push_back(static_cast<double>(first[2] - first[1]) * 1e-3);
  }
  cudaEventDestroy(event);
  return {median(std::move(same)), median(std::move(across))};
}

/// From the end of a kernel to the start of the next, queued long before, while streams wait for an event: of any two
/// that are first used one after the other, one shares the kernels' queue of commands (docs/contention.md).
class BesideWaiting {
 public:
  /// Median over `times` chains, in us; `copying`: while a copy from pinned memory runs.
  [[nodiscard]] double gap_us(int times, bool copying) {
    std::vector<double> all;
    for (int i = 0; i < times; ++i) {
      launch_stamped(stamps_.as<std::uint64_t>(), kQueueing, chain_.get());
      if (copying) {
        check(cudaMemcpyAsync(to_.as<void>(), from_.as<void>(), from_.bytes(), cudaMemcpyHostToDevice, copies_.get()),
              "cudaMemcpyAsync");
      }
      for (int k = 0; k < kKernels; ++k) launch_stamped(stamps_.as<std::uint64_t>() + 2 * k, kKernel, chain_.get());
      ends_.record(chain_);
      for (const Stream* waits : {&first_, &second_}) {
        check(cudaStreamWaitEvent(waits->get(), ends_.get(), 0), "cudaStreamWaitEvent");
        launch_nothing(waits->get());
      }
      for (const Stream* stream : {&chain_, &first_, &second_, &copies_}) stream->synchronise();
      const auto* at = stamps_.as<std::uint64_t>();
      for (int k = kKernels / 2; k < kKernels; ++k) {
        all.push_back(static_cast<double>(at[2 * k]) - static_cast<double>(at[2 * k - 1]));
      }
    }
    return median(std::move(all)) * 1e-3;
  }

 private:
  static constexpr int kKernels = 40;
  static constexpr std::uint64_t kQueueing = 500'000;  // the host is done with queueing by then
  static constexpr std::uint64_t kKernel = 5'000;
  static constexpr std::size_t kCopyBytes = std::size_t{128} << 20;  // longer than all that

  Stream chain_;
  Stream first_;
  Stream second_;
  Stream copies_;
  Event ends_;
  Memory stamps_{Memory::Place::kPinned, 2 * kKernels * sizeof(std::uint64_t)};
  Memory from_{Memory::Place::kPinned, kCopyBytes};
  Memory to_{Memory::Place::kDevice, kCopyBytes};
};

}  // namespace

Json measure_latencies(const Effort& effort) {
  use_device(0);
  const int times = effort.quick ? 100 : 1000;
  const Stream stream;
  const Stream other;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  for (int i = 0; i < 100; ++i) launch_nothing(stream.get());
  stream.synchronise();
  const double launch = host_us_of(times, stream, [&] { launch_nothing(stream.get()); });
  const double record =
      host_us_of(times, stream, [&] { check(cudaEventRecord(event, stream.get()), "cudaEventRecord"); });
  const double wait =
      host_us_of(times, other, [&] { check(cudaStreamWaitEvent(other.get(), event, 0), "cudaStreamWaitEvent"); });
  cudaEventDestroy(event);
  const double seen = launch_to_seen_us(times, stream);
  const double synchronised = launch_to_synchronised_us(times, stream);
  const Gaps between = gaps(times / 4);
  BesideWaiting beside_waiting;
  const double waiting = beside_waiting.gap_us(times / 10, false);
  const double copying = beside_waiting.gap_us(times / 10, true);
  return {{"launch_call_us", launch},
          {"event_record_call_us", record},
          {"stream_wait_call_us", wait},
          {"launch_to_seen_by_host_us", seen},
          {"launch_to_synchronised_us", synchronised},
          {"next_on_stream_us", between.same_stream_us},
          {"across_streams_us", between.event_wait_us},
          {"next_beside_waiting_us", waiting},
          {"next_beside_waiting_and_copy_us", copying}};
}

}  // namespace interlace::calibrate
