// A program with PyTorch's own allocator over the fake CUDA, to be recorded: torch_program SCENARIO. It prints the
// history and the state that the allocator itself tells of.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "cupti_collector/collector.hpp"
#include "tests/support/fake_cuda/fake_cudart.hpp"

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*function)(DeviceIndex));  // libtorch_cuda.so sets it as it is loaded
}

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;
using allocator::TraceEntry;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = kKiB * kKiB;

const char* name_of(TraceEntry::Action action) {
  switch (action) {
    case TraceEntry::ALLOC: return "alloc";
    case TraceEntry::FREE_REQUESTED: return "free_requested";
    case TraceEntry::FREE_COMPLETED: return "free_completed";
    case TraceEntry::SEGMENT_ALLOC: return "segment_alloc";
    case TraceEntry::SEGMENT_FREE: return "segment_free";
    case TraceEntry::SEGMENT_MAP: return "segment_map";
    case TraceEntry::SEGMENT_UNMAP: return "segment_unmap";
    case TraceEntry::SNAPSHOT: return "snapshot";
    case TraceEntry::OOM: return "oom";
  }
  return "?";
}

/// What the allocator says of itself.
void tell() {
  const allocator::SnapshotInfo snapshot = allocator::snapshot();
  for (const TraceEntry& entry : snapshot.device_traces.at(0)) {
    if (entry.action_ == TraceEntry::SNAPSHOT) continue;
    const std::size_t address = entry.action_ == TraceEntry::OOM ? 0 : entry.addr_;
    std::cout << "event " << name_of(entry.action_) << ' ' << address << ' ' << entry.size_ << ' '
              << reinterpret_cast<std::uintptr_t>(entry.stream_) << '\n';
  }
  for (const auto& segment : snapshot.segments) {
    std::cout << "segment " << segment.address << ' ' << segment.total_size << '\n';
    std::size_t address = segment.address;
    for (const auto& block : segment.blocks) {
      std::cout << "block " << address << ' ' << block.size << ' ' << block.requested_size << ' ' << block.allocated
                << ' ' << block.active << '\n';
      address += block.size;
    }
  }
  const auto stats = allocator::getDeviceStats(0);
  std::cout << "allocated " << stats.allocated_bytes[0].current << "\nreserved " << stats.reserved_bytes[0].current
            << std::endl;
}

void launch() { fake_cuda_launch(7, "_Z3addPfS_i", 1'000, kFakeNormal); }

/// Small and large requests, split and whole blocks, another stream and another thread, memory that runs out.
void use_memory() {
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(false, 0);
  std::vector<c10::DataPtr> kept;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{600}, 3 * kKiB, kMiB, 3 * kMiB, 9 * kMiB}) {
    kept.push_back(allocator::get()->allocate(bytes));
  }
  kept.erase(kept.begin() + 1);
  kept.erase(kept.begin() + 3);
  kept.push_back(allocator::get()->allocate(512));
  kept.push_back(allocator::get()->allocate(2 * kMiB));
  const c10::cuda::CUDAStream main = c10::cuda::getCurrentCUDAStream(0);
  c10::cuda::setCurrentCUDAStream(side);
  kept.push_back(allocator::get()->allocate(5 * kKiB));
  c10::cuda::setCurrentCUDAStream(main);
  // Used on another stream: it is freed once that is done.
  fake_cudart_events_done(false);
  c10::DataPtr shared = allocator::get()->allocate(40 * kKiB);
  std::cout << "shared " << reinterpret_cast<std::uintptr_t>(shared.get()) << ' '
            << reinterpret_cast<std::uintptr_t>(side.stream()) << '\n';
  allocator::recordStream(shared, side);
  shared.clear();
  kept.push_back(allocator::get()->allocate(100));
  fake_cudart_events_done(true);
  kept.push_back(allocator::get()->allocate(200));
  std::thread([&] { kept.push_back(allocator::get()->allocate(12 * kMiB)); }).join();
  try {
    kept.push_back(allocator::get()->allocate(200 * kMiB));
  } catch (const c10::OutOfMemoryError&) {
    std::cout << "out of memory\n";
  }
  allocator::raw_delete(allocator::raw_alloc(777));
  kept.resize(6);
  allocator::emptyCache();
  launch();
  fake_cuda_synchronize();
  tell();
  for (c10::DataPtr& pointer : kept) pointer.release_context();  // they stay to the end
}

void begin(bool is_late) {
  if (is_late) fake_cuda_init();
  allocator::init(1);
  allocator::recordHistory(true, nullptr, 100'000, allocator::RecordContext::NEVER, true, {});
}

}  // namespace

int main(int argc, char** argv) {
  c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
  const std::string scenario = argc > 1 ? argv[1] : "";
  if (scenario == "whole") {
    // As in a training script: the first CUDA call comes before the allocator is made.
    begin(true);
    launch();
    use_memory();
  } else if (scenario == "late") {
    allocator::init(1);
    c10::DataPtr before = allocator::get()->allocate(7 * kMiB);
    fake_cuda_init();
    allocator::recordHistory(true, nullptr, 100'000, allocator::RecordContext::NEVER, true, {});
    launch();
    use_memory();
    before.release_context();
  } else if (scenario == "launch") {
    fake_cuda_init();
    launch();
    fake_cuda_synchronize();
  } else if (scenario == "part") {
    begin(true);
    launch();
    c10::DataPtr before = allocator::get()->allocate(7 * kMiB);
    c10::DataPtr unseen;
    interlace::collector::stop();
    unseen = allocator::get()->allocate(3 * kMiB);
    interlace::collector::start();
    c10::DataPtr seen = allocator::get()->allocate(1000);
    seen.clear();
    launch();
    fake_cuda_synchronize();
    interlace::collector::stop();
    tell();
    before.release_context();
    unseen.release_context();
  } else {
    return 2;
  }
  std::cout << "name " << allocator::name() << std::endl;
  return 0;
}
