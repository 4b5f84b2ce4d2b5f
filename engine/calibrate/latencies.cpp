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
  return {{"launch_call_us", launch},
          {"event_record_call_us", record},
          {"stream_wait_call_us", wait},
          {"launch_to_seen_by_host_us", seen},
          {"launch_to_synchronised_us", synchronised},
          {"next_on_stream_us", between.same_stream_us},
          {"across_streams_us", between.event_wait_us}};
}

}  // namespace interlace::calibrate
