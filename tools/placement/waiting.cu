// What streams that wait for an event cost the work of other streams. Prints a line of JSON for each repetition of each
// scene, for summarise.py. One GPU. Which streams share a group of hardware queues depends on the order of their first
// use in a process, so each order takes a process of its own.
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -o waiting waiting.cu
//   for order in 01234567 76543210 04152637 03472561; do ./waiting REPEATS $order; done > waiting.jsonl

#include <optional>

#include "blocks.cuh"

using namespace placement;

namespace {

constexpr int kStreams = 8;  // as many hardware queues as a process has unless CUDA_DEVICE_MAX_CONNECTIONS says more
constexpr int kMeasured = 0;
constexpr int kHolding = 7;  // what the others wait for runs here
constexpr int kKernels = 64;
constexpr std::size_t kCopyBytes = std::size_t{64} << 20;

class Scene {
 public:
  explicit Scene(const std::string& order) : order_(order) {
    check(cudaMalloc(&stays_, (kKernels + 1) * sizeof(Stay)), "memory");
    check(cudaMalloc(&spare_, sizeof(Stay)), "memory");
    check(cudaMalloc(&to_, kCopyBytes), "memory");
    check(cudaMallocHost(&from_, kCopyBytes), "memory");
    for (cudaStream_t& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
    for (cudaEvent_t& e : events_) check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "event");
    for (cudaEvent_t& e : timed_) check(cudaEventCreate(&e), "event");
    check(cudaEventCreateWithFlags(&held_, cudaEventDisableTiming), "event");
    check(cudaDeviceSynchronize(), "set-up");
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int stream = order[i] - '0';
      turn_[stream] = static_cast<int>(i);
      delay(stream, 1, spare_);
      check(cudaDeviceSynchronize(), "first use");
    }
  }

  // Streams are told apart by whether an even or an odd number of others was used first between them and the measured.
  std::vector<int> of_group(bool same) const {
    std::vector<int> found;
    for (int s = 1; s < kHolding; ++s) {
      if ((std::abs(turn_[s] - turn_[kMeasured]) % 2 == 0) == same) found.push_back(s);
    }
    return found;
  }
  int turn(int stream) const { return turn_[stream]; }
  const std::string& order() const { return order_; }

  // From the end of each kernel of a chain to the start of the next, the middle half: each on the measured stream, or
  // every second on `other` behind an event. All is queued before the first begins; `waiting` wait until after the
  // last.
  std::vector<double> gaps_us(const std::vector<int>& waiting, std::optional<int> other) {
    hold(waiting);
    delay(kMeasured, 400, stays_ + kKernels);
    int stream = kMeasured;
    for (int i = 0; i < kKernels; ++i) {
      if (other) {
        check(cudaEventRecord(events_[i], streams_[stream]), "record");
        stream = stream == kMeasured ? *other : kMeasured;
        check(cudaStreamWaitEvent(streams_[stream], events_[i], 0), "wait");
      }
      delay(stream, 5, stays_ + i);
    }
    check(cudaDeviceSynchronize(), "chain");
    std::vector<Stay> stays(kKernels);
    check(cudaMemcpy(stays.data(), stays_, kKernels * sizeof(Stay), cudaMemcpyDeviceToHost), "read");
    std::vector<double> gaps;
    for (int i = 1; i < kKernels; ++i) {
      gaps.push_back((static_cast<double>(stays[i].from_ns) - static_cast<double>(stays[i - 1].to_ns)) / 1000);
    }
    std::sort(gaps.begin(), gaps.end());
    return gaps;
  }

  // Gigabytes a second of a copy from pinned memory.
  double copy_rate(const std::vector<int>& waiting) {
    hold(waiting);
    check(cudaEventRecord(timed_[0], streams_[kMeasured]), "record");
    check(cudaMemcpyAsync(to_, from_, kCopyBytes, cudaMemcpyHostToDevice, streams_[kMeasured]), "copy");
    check(cudaEventRecord(timed_[1], streams_[kMeasured]), "record");
    check(cudaDeviceSynchronize(), "copy");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, timed_[0], timed_[1]), "time");
    return static_cast<double>(kCopyBytes) / 1e6 / ms;
  }

 private:
  void delay(int stream, double us, Stay* stay) {
    check(launch(streams_[stream], kDelay, 1, us * 1000, stay, nullptr), "launch");
  }
  void hold(const std::vector<int>& waiting) {
    delay(kHolding, 4000, spare_);
    check(cudaEventRecord(held_, streams_[kHolding]), "record");
    for (const int s : waiting) {
      check(cudaStreamWaitEvent(streams_[s], held_, 0), "wait");
      delay(s, 1, spare_);
    }
  }

  std::string order_;
  Stay* stays_ = nullptr;
  Stay* spare_ = nullptr;
  char* to_ = nullptr;
  char* from_ = nullptr;
  cudaStream_t streams_[kStreams] = {};
  cudaEvent_t events_[kKernels] = {};
  cudaEvent_t timed_[2] = {};
  cudaEvent_t held_ = nullptr;
  int turn_[kStreams] = {};
};

void print(const Scene& scene, const char* name, int repeat, const std::string& more, const std::vector<double>& gaps) {
  std::printf(
      "{\"scene\":\"%s\",\"order\":\"%s\",\"repeat\":%d,%s,\"quarter\":%.3f,\"median\":%.3f,\"three_quarters\":%.3f}\n",
      name, scene.order().c_str(), repeat, more.c_str(), gaps[gaps.size() / 4], gaps[gaps.size() / 2],
      gaps[gaps.size() * 3 / 4]);
}

std::string field(const char* key, int value) { return "\"" + std::string(key) + "\":" + std::to_string(value); }

std::vector<int> some_of(const std::vector<int>& streams, int count, int but_not) {
  std::vector<int> chosen;
  for (const int s : streams) {
    if (static_cast<int>(chosen.size()) < count && s != but_not) chosen.push_back(s);
  }
  return chosen;
}

void run(Scene& scene, int repeat) {
  for (int s = 1; s < kHolding; ++s) {
    const int apart = std::abs(scene.turn(s) - scene.turn(kMeasured));
    print(scene, "one waits", repeat, field("stream", s) + "," + field("turns_apart", apart),
          scene.gaps_us({s}, std::nullopt));
  }
  const std::vector<int> same = scene.of_group(true);
  const std::vector<int> opposite = scene.of_group(false);
  const auto each_number = [&](int but_not, const auto& measure) {
    const int most_same = static_cast<int>(some_of(same, kStreams, but_not).size());
    const int most_opposite = static_cast<int>(some_of(opposite, kStreams, but_not).size());
    for (int s = 0; s <= most_same; ++s) {
      for (int o = 0; o <= most_opposite; ++o) {
        std::vector<int> waiting = some_of(same, s, but_not);
        for (const int stream : some_of(opposite, o, but_not)) waiting.push_back(stream);
        measure(waiting, field("same_group", s) + "," + field("other_group", o));
      }
    }
  };
  each_number(kMeasured, [&](const std::vector<int>& waiting, const std::string& how_many) {
    print(scene, "queued", repeat, how_many, scene.gaps_us(waiting, std::nullopt));
    print(scene, "copy", repeat, how_many, {scene.copy_rate(waiting)});
  });
  for (const bool within : {true, false}) {
    const std::vector<int>& group = within ? same : opposite;
    if (group.empty()) continue;
    each_number(group.back(), [&](const std::vector<int>& waiting, const std::string& how_many) {
      print(scene, within ? "hop within the group" : "hop to the other group", repeat, how_many,
            scene.gaps_us(waiting, group.back()));
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 3;
  const std::string order = argc > 2 ? argv[2] : "01234567";
  if (order.size() != kStreams) {
    std::fprintf(stderr, "waiting: an order names each of the streams 0 to %d once\n", kStreams - 1);
    return 2;
  }
  Scene scene(order);
  scene.gaps_us({}, std::nullopt);  // the first launches load code
  scene.gaps_us({}, 1);
  scene.copy_rate({});
  for (int repeat = 0; repeat < repeats; ++repeat) run(scene, repeat);
  return 0;
}
