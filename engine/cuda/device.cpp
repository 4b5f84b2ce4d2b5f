#include "engine/cuda/device.hpp"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engine/cuda/status.hpp"
#include "engine/runtime/failure.hpp"
#include "engine/runtime/profile.hpp"

namespace interlace::engine::cuda {

namespace {

// An event that goes back to the idle ones.
class CudaEvent : public EventState {
 public:
  CudaEvent(cudaEvent_t event, IdleEvents idle) : event_(event), idle_(std::move(idle)) {}
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  CudaEvent(CudaEvent&&) = delete;
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() override { idle_->push_back(event_); }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_;
  IdleEvents idle_;
};

// An event that keeps its time. There are few, in runs that ask for times, so they are not used again.
class TimedEvent : public EventState {
 public:
  TimedEvent() { check(cudaEventCreate(&event_)); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  TimedEvent(TimedEvent&&) = delete;
  TimedEvent& operator=(TimedEvent&&) = delete;
  ~TimedEvent() override { static_cast<void>(cudaEventDestroy(event_)); }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// The time of what the host does by itself, where the device has a profile.
class HostTime {
 public:
  HostTime(const Device& device, const char* name) : profile_(device.profile()), name_(name) {
    if (profile_ != nullptr) began_ = Profile::Clock::now();
  }
  void end() const {
    if (profile_ != nullptr) profile_->add_host(name_, began_);
  }

 private:
  Profile* profile_;
  const char* name_;
  Profile::Clock::time_point began_;
};

// What LibTorch throws, in one line and without the addresses of its callers.
template <class Call>
auto in_torch(const Call& call) {
  try {
    return call();
  } catch (const c10::OutOfMemoryError& error) {
    std::string what = error.what_without_backtrace();
    what.resize(std::min({what.size(), what.find('\n'), what.find(" Including non-PyTorch")}));
    throw Error(kOutOfMemory, "", what, "take smaller tables or batches, or more ranks");
  } catch (const c10::Error& error) {
    std::string what = error.what_without_backtrace();
    std::ranges::replace(what, '\n', ' ');
    throw Error(kInternal, "", what, "please report this");
  }
}

cudaEvent_t event_of(const Event& event) { return static_cast<const CudaEvent&>(*event).get(); }

}  // namespace

struct CudaDevice::Streams {
  std::vector<cudaStream_t> own;
  std::vector<c10::cuda::CUDAStream> known;  ///< the same as LibTorch knows them
};

class CudaDevice::CudaBlock : public Block {
 public:
  CudaBlock(c10::DataPtr data, const Streams& streams, StreamId pool)
      : data_(std::move(data)), streams_(&streams), pool_(pool) {}
  CudaBlock(const CudaBlock&) = delete;
  CudaBlock& operator=(const CudaBlock&) = delete;
  CudaBlock(CudaBlock&&) = delete;
  CudaBlock& operator=(CudaBlock&&) = delete;
  /// To give back what other streams used, LibTorch records events, and throws where the device has failed. A DataPtr
  /// would end the process then, before anybody has told how the device failed.
  ~CudaBlock() override {
    const c10::DeleterFnPtr give_back = data_.get_deleter();
    void* const memory = data_.release_context();
    try {
      if (memory != nullptr) give_back(memory);
    } catch (const std::exception&) {
      // Nobody gets the memory again. A device that has failed refuses the next call, too, which throws.
    }
  }

  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(data_.get()); }
  void used_on(StreamId stream) override {
    if (stream != pool_ && data_.get() != nullptr) {
      c10::cuda::CUDACachingAllocator::recordStream(data_, streams_->known[stream.index()]);
    }
  }

 private:
  c10::DataPtr data_;
  const Streams* streams_;
  StreamId pool_;
};

class CudaDevice::PinnedBlock : public Block {
 public:
  PinnedBlock(CudaDevice& device, std::byte* data, std::size_t bytes) : device_(&device), data_(data), bytes_(bytes) {}
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;
  PinnedBlock(PinnedBlock&&) = delete;
  PinnedBlock& operator=(PinnedBlock&&) = delete;
  ~PinnedBlock() override {
    try {
      std::vector<cudaEvent_t> uses;
      for (const StreamId stream : used_on_) {
        uses.push_back(device_->take_event());
        check(cudaEventRecord(uses.back(), device_->native(stream)));
      }
      device_->pinned_.give_back(data_, bytes_, std::move(uses));
    } catch (const Error&) {
      // Nobody gets the memory again: the device may still use it.
    }
  }

  [[nodiscard]] std::byte* data() const override { return data_; }
  void used_on(StreamId stream) override {
    if (std::ranges::find(used_on_, stream) == used_on_.end()) used_on_.push_back(stream);
  }

 private:
  CudaDevice* device_;
  std::byte* data_;
  std::size_t bytes_;
  std::vector<StreamId> used_on_;
};

CudaDevice::CudaDevice(int index, Progress& progress)
    : index_(index),
      progress_(&progress),
      streams_(std::make_unique<Streams>()),
      idle_events_(std::make_shared<std::vector<cudaEvent_t>>()),
      pinned_(idle_events_) {
  require(index + 1);
  check(cudaSetDevice(index));
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
}

int CudaDevice::shown() {
  int shown = 0;
  if (cudaGetDeviceCount(&shown) == cudaSuccess) return shown;
  static_cast<void>(cudaGetLastError());
  return 0;
}

void CudaDevice::require(int count) {
  const int shown = CudaDevice::shown();
  if (shown >= count) return;
  throw Error(kNoGpu, std::to_string(count) + " GPUs", "this machine shows " + std::to_string(shown),
              "start fewer ranks, see whether CUDA_VISIBLE_DEVICES hides some, or take --device cpu");
}

CudaDevice::~CudaDevice() {
  for (const cudaEvent_t event : *idle_events_) static_cast<void>(cudaEventDestroy(event));
  for (const cudaStream_t stream : streams_->own) static_cast<void>(cudaStreamDestroy(stream));
}

StreamId CudaDevice::make_stream(const std::string& /*name*/, int priority) {
  int least = 0;
  int most = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &most));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, std::clamp(priority, most, least)));
  streams_->own.push_back(stream);
  streams_->known.push_back(c10::cuda::getStreamFromExternal(stream, static_cast<c10::DeviceIndex>(index_)));
  return {static_cast<std::uint32_t>(streams_->own.size() - 1)};
}

cudaStream_t CudaDevice::native(StreamId stream) const { return streams_->own[stream.index()]; }

void CudaDevice::launch(StreamId stream, Work work) {
  const c10::cuda::CUDAStreamGuard guard(streams_->known[stream.index()]);
  in_torch([&] { work(native(stream)); });
}

void CudaDevice::copy(StreamId stream, void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)));
}

cudaEvent_t CudaDevice::take_event() {
  cudaEvent_t event = nullptr;
  if (idle_events_->empty()) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  } else {
    event = idle_events_->back();
    idle_events_->pop_back();
  }
  return event;
}

Event CudaDevice::record(StreamId stream) {
  auto event = std::make_shared<CudaEvent>(take_event(), idle_events_);
  check(cudaEventRecord(event->get(), native(stream)));
  return event;
}

void CudaDevice::wait(StreamId waiter, const Event& event) {
  check(cudaStreamWaitEvent(native(waiter), event_of(event), 0));
}

void CudaDevice::host_wait(const Event& event) {
  const HostTime time(*this, "wait");
  check(cudaEventSynchronize(event_of(event)));
  time.end();
}

void CudaDevice::host_read(const Event& copied, StreamId /*stream*/, void* /*at*/, std::size_t /*bytes*/) {
  const HostTime time(*this, "read sizes");
  check(cudaEventSynchronize(event_of(copied)));
  time.end();
}

Event CudaDevice::record_time(StreamId stream) {
  auto event = std::make_shared<TimedEvent>();
  check(cudaEventRecord(event->get(), native(stream)));
  return event;
}

double CudaDevice::seconds_between(const Event& from, const Event& to) const {
  const auto timed = [](const Event& event) { return static_cast<const TimedEvent&>(*event).get(); };
  constexpr double kMillisecond = 1e-3;
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, timed(from), timed(to)));
  return kMillisecond * static_cast<double>(milliseconds);
}

void CudaDevice::synchronize() { check(cudaDeviceSynchronize()); }

std::shared_ptr<Block> CudaDevice::allocate(std::size_t bytes, StreamId pool) {
  const c10::cuda::CUDAStreamGuard guard(streams_->known[pool.index()]);
  const HostTime time(*this, "allocate");
  c10::DataPtr data = in_torch([&] { return c10::cuda::CUDACachingAllocator::get()->allocate(bytes); });
  auto block = std::make_shared<CudaBlock>(std::move(data), *streams_, pool);
  time.end();
  return block;
}

std::shared_ptr<Block> CudaDevice::allocate_host(std::size_t bytes) {
  const HostTime time(*this, "allocate pinned");
  auto block = std::make_shared<PinnedBlock>(*this, pinned_.take(bytes), bytes);
  time.end();
  return block;
}

MemoryPeaks CudaDevice::peaks() const {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(index_));
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return {.allocated = stats.allocated_bytes[all].peak, .reserved = stats.reserved_bytes[all].peak};
}

void CudaDevice::enter(const std::string& range) {
  progress_->entered(range);
  nvtxRangePushA(range.c_str());
}

void CudaDevice::leave() noexcept {
  nvtxRangePop();
  progress_->left();
}

}  // namespace interlace::engine::cuda
