#include "tests/unit/engine/timeline.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/cpu/communicator.hpp"
#include "engine/cpu/device.hpp"
#include "engine/cpu/embedding_kernels.hpp"
#include "engine/launch/train.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::engine {

namespace {

struct Call {
  enum class Kind : std::uint8_t { kEnter, kLeave, kWork, kCopy, kCollective, kRecord, kWait, kHostWait };
  Kind kind = Kind::kWork;
  std::string name;  // of a range
  StreamId stream;
  Event event;  // kept, so that no later one has its address
};
using Calls = std::vector<Call>;

/// Writes down what the engine asks of the device.
class ObservedDevice : public cpu::CpuDevice {
 public:
  ObservedDevice(cpu::CpuCluster& cluster, int rank, Calls& calls) : CpuDevice(cluster, rank), calls_(&calls) {}

  void launch(StreamId stream, Work work) override {
    note({.kind = Call::Kind::kWork, .stream = stream});
    const Inside inside(*this);
    CpuDevice::launch(stream, std::move(work));
  }
  void copy(StreamId stream, void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) note({.kind = Call::Kind::kCopy, .stream = stream});
    const Inside inside(*this);
    CpuDevice::copy(stream, to, from, bytes);
  }
  Event record(StreamId stream) override {
    const Event event = CpuDevice::record(stream);
    note({.kind = Call::Kind::kRecord, .stream = stream, .event = event});
    return event;
  }
  void wait(StreamId waiter, const Event& event) override {
    note({.kind = Call::Kind::kWait, .stream = waiter, .event = event});
    CpuDevice::wait(waiter, event);
  }
  void host_wait(const Event& event) override {
    note({.kind = Call::Kind::kHostWait, .event = event});
    CpuDevice::host_wait(event);
  }
  void host_read(const Event& copied, StreamId stream, void* at, std::size_t bytes) override {
    note({.kind = Call::Kind::kHostWait, .event = copied});
    const Inside inside(*this);
    CpuDevice::host_read(copied, stream, at, bytes);
  }
  void post(std::size_t group, StreamId stream, std::unique_ptr<cpu::CpuPost> post) override {
    note({.kind = Call::Kind::kCollective, .stream = stream});
    CpuDevice::post(group, stream, std::move(post));
  }
  void enter(const std::string& range) override {
    note({.kind = Call::Kind::kEnter, .name = range});
    CpuDevice::enter(range);
  }
  void leave() noexcept override {
    note({.kind = Call::Kind::kLeave});
    CpuDevice::leave();
  }

 private:
  // Calls of the device to itself are no calls of the engine.
  struct Inside {
    explicit Inside(ObservedDevice& device) : device_(&device) { ++device_->depth_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { --device_->depth_; }
    ObservedDevice* device_;
  };
  void note(Call call) {
    if (depth_ == 0) calls_->push_back(std::move(call));
  }

  Calls* calls_;
  int depth_ = 0;
};

std::vector<Calls> observed(const schedule::Schedule& schedule, const Workload& workload) {
  std::vector<Calls> calls(static_cast<std::size_t>(workload.ranks));
  const cpu::CpuEmbeddingKernels kernels;
  cpu::CpuCluster cluster(workload.ranks, {});
  cluster.run([&](int rank) {
    use_one_thread();
    ObservedDevice device(cluster, rank, calls[static_cast<std::size_t>(rank)]);
    cpu::CpuCommunicator communicator(device, 0, rank, workload.ranks);
    SyntheticBatches batches(workload, device, rank);
    const RankTools tools{.device = device, .communicator = communicator, .kernels = kernels, .source = batches};
    static_cast<void>(train(schedule, workload, tools));
  });
  return calls;
}

constexpr Nanoseconds kLaunchTime = 4 * kMicrosecond;
constexpr Nanoseconds kEventTime = kMicrosecond / 2;  // of a call that records or waits
constexpr Nanoseconds kBetweenCalls = kMicrosecond / 2;
constexpr Nanoseconds kLatency = 9 * kMicrosecond;  // from a launch to the start on an idle stream
constexpr Nanoseconds kGap = kMicrosecond;          // between works that are queued
constexpr Nanoseconds kAfterWait = 4 * kMicrosecond;

/// "backward 12" without its batch.
std::string without_number(const std::string& name) { return name.substr(0, name.find(' ')); }

/// Lays out the calls of one rank in time.
class RankLayout {
 public:
  RankLayout(trace::TraceBuilder& builder, std::int32_t rank, std::int32_t ranks, const Calls& calls)
      : builder_(&builder), calls_(&calls) {
    trace::Rank info;
    info.number = rank;
    info.world_size = ranks;
    info.source = "rank" + std::to_string(rank);
    info.devices.push_back({.ordinal = rank, .name = "invented", .sm_count = 132});
    rank_ = builder.add_rank(info);
    device_ = rank;
    thread_ = builder.lane(trace::LaneKind::kHostThread, rank_, 100 + rank, 1);
  }

  /// Goes on to the next collective. False: there is none any more.
  bool to_collective() {
    for (; next_ < calls_->size(); ++next_) {
      const Call& call = (*calls_)[next_];
      if (call.kind == Call::Kind::kCollective) return true;
      carry_out(call);
    }
    return false;
  }

  /// When this rank comes to the collective at which it stands.
  [[nodiscard]] Nanoseconds arrival() { return ready((*calls_)[next_].stream); }
  void meet(Nanoseconds last_arrival) {
    const Nanoseconds start = arrival();
    add_work((*calls_)[next_++], start, last_arrival + duration("collective") - start);
  }

  /// On the device: of the optimizers or, where there are none, of the iterations.
  [[nodiscard]] const std::vector<Nanoseconds>& ends() const {
    return optimizer_ends_.empty() ? iteration_ends_ : optimizer_ends_;
  }

 private:
  void carry_out(const Call& call) {
    switch (call.kind) {
      case Call::Kind::kEnter: open_.push_back({call.name, now_, {}}); return;
      case Call::Kind::kLeave: {
        const Open& range = open_.back();
        builder_->add_range({thread_, builder_->intern(range.name), range.begin, now_ - range.begin, {}},
                            {.kind = trace::RangeKind::kAnnotation});
        if (range.name.starts_with("optimizer_step")) optimizer_ends_.push_back(last_end_);
        if (range.name.starts_with("iteration")) iteration_ends_.push_back(last_end_);
        open_.pop_back();
        return;
      }
      case Call::Kind::kWork: add_work(call, ready(call.stream), duration("kernel")); return;
      case Call::Kind::kCopy: add_work(call, ready(call.stream), duration("copy")); return;
      case Call::Kind::kRecord: {
        const trace::OperationId record =
            builder_->add_sync(trace::OperationKind::kEventRecord, host_call("cudaEventRecord", kEventTime),
                               {.kind = trace::SyncKind::kEventRecord, .stream = lane(call.stream)});
        events_[call.event.get()] = {std::max(streams_[call.stream].end, streams_[call.stream].wait), record};
        return;
      }
      case Call::Kind::kWait: {
        const auto [time, record] = events_.at(call.event.get());
        builder_->add_sync(trace::OperationKind::kStreamWait, host_call("cudaStreamWaitEvent", kEventTime),
                           {.kind = trace::SyncKind::kStreamWaitEvent, .stream = lane(call.stream), .record = record});
        streams_[call.stream].wait = std::max(streams_[call.stream].wait, time);
        return;
      }
      case Call::Kind::kHostWait: {
        const auto [time, record] = events_.at(call.event.get());
        builder_->add_sync(trace::OperationKind::kHostSync,
                           host_call("cudaEventSynchronize", std::max(kEventTime, time + kAfterWait - now_)),
                           {.kind = trace::SyncKind::kEventSync, .record = record});
        return;
      }
      case Call::Kind::kCollective: break;
    }
  }

  struct Stream {
    Nanoseconds end = 0;   // of its last work
    Nanoseconds wait = 0;  // end of all that it has been made to wait for
  };

  /// When the next work of the stream starts that is launched now.
  [[nodiscard]] Nanoseconds ready(StreamId stream) {
    const Stream& state = streams_[stream];
    return std::max({now_ + kLatency, state.end + kGap, state.wait > 0 ? state.wait + kAfterWait : 0});
  }

  [[nodiscard]] trace::LaneId lane(StreamId stream) {
    return builder_->lane(trace::LaneKind::kStream, rank_, device_, static_cast<std::int64_t>(stream.value) + 1);
  }

  trace::TraceBuilder::Common host_call(const char* name, Nanoseconds takes) {
    const trace::TraceBuilder::Common common{thread_, builder_->intern(name), now_, takes, {}};
    now_ += takes + kBetweenCalls;
    return common;
  }

  /// In a stage, whichever its batch.
  [[nodiscard]] std::string place() const {
    std::string place;
    for (const Open& range : open_) {
      if (range.name.starts_with("iteration")) continue;
      // A message of a few numbers takes its time for one module as for all.
      const bool is_short = range.name.ends_with(":exchange]") || range.name.ends_with(":splits]");
      place.append(" ").append(is_short ? range.name.substr(range.name.find(':')) : without_number(range.name));
    }
    return place;
  }

  /// The same for the same place.
  [[nodiscard]] Nanoseconds duration(const std::string& kind) {
    std::string place = kind + this->place();
    const int before = open_.empty() ? 0 : open_.back().works[kind]++;
    place += std::to_string(before);
    std::uint64_t hash = 14695981039346656037U;
    for (const char letter : place) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    constexpr Nanoseconds kShortest = 40 * kMicrosecond;
    constexpr std::uint64_t kMore = 160'000;
    const Nanoseconds time = kShortest + static_cast<Nanoseconds>((hash >> 20U) % kMore);
    return kind == "kernel" ? time : time / 2;
  }

  void add_work(const Call& call, Nanoseconds start, Nanoseconds takes) {
    Stream& stream = streams_[call.stream];
    stream.end = start + takes;
    stream.wait = 0;
    last_end_ = stream.end;
    const std::int64_t correlation = ++works_;
    trace::TraceBuilder::Common launch = host_call("cudaLaunchKernel", kLaunchTime);
    launch.correlation = correlation;
    builder_->add_host_call(launch);
    const bool collective = call.kind == Call::Kind::kCollective;
    // By their names kernels are bound by compute, which slow no collective.
    const trace::TraceBuilder::Common common{
        lane(call.stream), builder_->intern(collective ? "ncclDevKernel_SendRecv" : "gemm of" + place()), start, takes,
        correlation};
    if (collective) {
      builder_->add_collective(common, {.grid = {2, 1, 1}}, std::nullopt);
    } else if (call.kind == Call::Kind::kCopy) {
      builder_->add_copy(
          common, {.bytes = 1000, .source = trace::MemorySpace::kDevice, .destination = trace::MemorySpace::kPinned});
    } else {
      builder_->add_kernel(common, {.grid = {16, 1, 1}, .block = {128, 1, 1}});
    }
  }

  struct Open {
    std::string name;
    Nanoseconds begin = 0;
    std::map<std::string, int> works;  // so far, by kind
  };

  trace::TraceBuilder* builder_;
  const Calls* calls_;
  trace::RankId rank_;
  std::int64_t device_ = 0;
  trace::LaneId thread_;
  std::size_t next_ = 0;
  Nanoseconds now_ = 0;
  Nanoseconds last_end_ = 0;
  std::int64_t works_ = 0;
  std::vector<Open> open_;
  std::map<StreamId, Stream> streams_;
  std::map<const EventState*, std::pair<Nanoseconds, trace::OperationId>> events_;
  std::vector<Nanoseconds> optimizer_ends_;
  std::vector<Nanoseconds> iteration_ends_;
};

}  // namespace

Timeline timeline_of(const schedule::Schedule& schedule, const Workload& workload) {
  const std::vector<Calls> calls = observed(schedule, workload);
  trace::TraceBuilder builder;
  std::vector<RankLayout> ranks;
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    ranks.emplace_back(builder, static_cast<std::int32_t>(rank), static_cast<std::int32_t>(calls.size()), calls[rank]);
  }
  for (;;) {
    bool more = true;
    for (RankLayout& rank : ranks) more = rank.to_collective() && more;
    if (!more) break;
    Nanoseconds last = 0;
    for (RankLayout& rank : ranks) last = std::max(last, rank.arrival());
    for (RankLayout& rank : ranks) rank.meet(last);
  }
  const std::vector<Nanoseconds>& ends = ranks.front().ends();
  const std::size_t last = ends.size() - 1 - static_cast<std::size_t>(schedule::depth(schedule));
  Diagnostics none;
  return {std::move(builder).build(none), static_cast<double>(ends[last] - ends[0]) / static_cast<double>(last)};
}

}  // namespace interlace::engine
