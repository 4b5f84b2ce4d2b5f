#include "tests/support/fake_cuda/fake_nccl.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "cupti_collector/nccl_interface.hpp"
#include "tests/support/fake_cuda/fake_cuda.hpp"

namespace interlace::testing {

namespace nccl = collector::nccl;

namespace {

constexpr std::uint32_t kStream = 9;
constexpr std::uint8_t kFloat32 = 7;  // ncclDataType_t
constexpr std::uint8_t kInt8 = 0;
constexpr std::uint8_t kChannels = FakeNccl::kChannelCount;
void* const kSendBuffer = reinterpret_cast<void*>(FakeNccl::kSendAddress);        // NOLINT(performance-no-int-to-ptr)
void* const kReceiveBuffer = reinterpret_cast<void*>(FakeNccl::kReceiveAddress);  // NOLINT(performance-no-int-to-ptr)
const char* name_of(std::uint8_t datatype) { return datatype == kInt8 ? "ncclInt8" : "ncclFloat32"; }

using ProfilerV1 = nccl::Profiler<nccl::InitV1, nccl::DescriptorV1>;
using ProfilerV2 = nccl::Profiler<nccl::InitV1, nccl::DescriptorV2>;
using ProfilerV3 = nccl::Profiler<nccl::InitV1, nccl::DescriptorV3>;
using ProfilerV4 = nccl::Profiler<nccl::InitV4, nccl::DescriptorV4>;
using ProfilerV5 = nccl::Profiler<nccl::InitV5, nccl::DescriptorV5>;

struct Comm {
  void* context = nullptr;
  std::uint64_t id = 0;
  std::string name;
  int mask = 0;
  std::uint64_t sequence = 0;
};

}  // namespace

struct FakeNccl::Task {
  int type = 0;
  const char* function = "";
  std::uint8_t function_number = 0;
  std::uint8_t datatype = kFloat32;
  std::uint64_t count = 0;
  int peer = 0;
  void* parent = nullptr;
};

FakeNccl::FakeNccl(int version) : version_(version) {
  const char* file = std::getenv("NCCL_PROFILER_PLUGIN");
  void* library = file == nullptr ? nullptr : dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) plugin_ = dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str());
}

void* FakeNccl::buffer_of(const Task& task) {
  auto* begin = static_cast<std::byte*>(std::string_view(task.function) == "Send" ? kSendBuffer : kReceiveBuffer);
  return begin + static_cast<std::uint64_t>(task.peer) * task.count * sizeof(float);
}

void* FakeNccl::communicator(std::uint64_t id, const char* name, int ranks) {
  auto* comm = new Comm{nullptr, id, name, 0, 0};
  if (plugin_ == nullptr) return comm;
  if (version_ <= 3) {
    static_cast<ProfilerV1*>(plugin_)->init(&comm->context, &comm->mask);
  } else if (version_ == 4) {
    static_cast<ProfilerV4*>(plugin_)->init(&comm->context, &comm->mask, name, id, 1, ranks, 0, nullptr);
  } else {
    static_cast<ProfilerV5*>(plugin_)->init(&comm->context, id, &comm->mask, name, 1, ranks, 0, nullptr);
  }
  return comm;
}

void FakeNccl::tell(void* communicator, const Task& task) {
  auto* comm = static_cast<Comm*>(communicator);
  if (plugin_ == nullptr || (comm->mask & task.type) == 0) return;
  void* handle = nullptr;
  const bool is_collective = task.type == nccl::kCollective;
  if (version_ == 1) {
    nccl::DescriptorV1 event{static_cast<std::uint8_t>(task.type), nullptr, 0, {}};
    if (is_collective) {
      event.collective = {comm->name.c_str(),
                          comm->id,
                          comm->sequence++,
                          task.function_number,
                          kSendBuffer,
                          kReceiveBuffer,
                          task.count,
                          0,
                          task.datatype,
                          0,
                          0,
                          kChannels};
    } else {
      event.point_to_point = {comm->name.c_str(), comm->id, task.function_number, buffer_of(task), task.datatype,
                              task.count,         task.peer};
    }
    static_cast<ProfilerV1*>(plugin_)->start(comm->context, &handle, &event);
  } else if (version_ <= 3) {
    nccl::DescriptorV2 second{static_cast<std::uint8_t>(task.type), nullptr, 0, {}};
    nccl::DescriptorV3 third{static_cast<std::uint8_t>(task.type), nullptr, 0, {}};
    if (is_collective) {
      const std::uint64_t sequence = comm->sequence++;
      second.collective = {comm->name.c_str(), comm->id,   sequence, task.function,          kSendBuffer,
                           kReceiveBuffer,     task.count, 0,        name_of(task.datatype), 0,
                           kChannels};
      third.collective = {comm->name.c_str(), comm->id,   sequence, task.function,          kSendBuffer,
                          kReceiveBuffer,     task.count, 0,        name_of(task.datatype), kChannels};
    } else {
      second.point_to_point = third.point_to_point = {
          comm->name.c_str(), comm->id, task.function, buffer_of(task), name_of(task.datatype), task.count, task.peer};
    }
    if (version_ == 2) static_cast<ProfilerV2*>(plugin_)->start(comm->context, &handle, &second);
    if (version_ == 3) static_cast<ProfilerV3*>(plugin_)->start(comm->context, &handle, &third);
  } else {
    nccl::CollectiveV4 collective{comm->sequence,         task.function, kSendBuffer, kReceiveBuffer, task.count, 0,
                                  name_of(task.datatype), kChannels};
    nccl::PointToPointV4 point{task.function, buffer_of(task), name_of(task.datatype),
                               task.count,    task.peer,       kChannels};
    if (version_ == 4) {
      nccl::DescriptorV4 event{static_cast<std::uint8_t>(task.type), nullptr, 0, {collective}};
      if (!is_collective) event.point_to_point = point;
      static_cast<ProfilerV4*>(plugin_)->start(comm->context, &handle, &event);
    } else {
      nccl::DescriptorV5 event{static_cast<std::uint64_t>(task.type), task.parent, 0, {collective}};
      if (!is_collective) event.point_to_point = point;
      static_cast<ProfilerV5*>(plugin_)->start(comm->context, &handle, &event);
    }
  }
}

void* FakeNccl::call(void* communicator, const Task& task) {
  auto* comm = static_cast<Comm*>(communicator);
  if (plugin_ == nullptr || version_ < 5 || (comm->mask & nccl::kCollective) == 0) return nullptr;
  void* handle = nullptr;
  nccl::DescriptorV5 event{static_cast<std::uint64_t>(nccl::kCollectiveCall), nullptr, 0, {}};
  event.call = {task.function, task.count, name_of(task.datatype), 0};
  static_cast<ProfilerV5*>(plugin_)->start(comm->context, &handle, &event);
  static_cast<ProfilerV5*>(plugin_)->stop(handle);
  return handle;
}

void FakeNccl::run(void* communicator, const char* kernel, const std::function<void()>& tell_tasks) {
  fake_cuda_launch_by_driver(kStream, kernel, 50'000);
  tell(communicator, {.type = nccl::kGroup});
  tell_tasks();
}

void FakeNccl::all_reduce(void* communicator, std::uint64_t count) {
  Task task{.type = nccl::kCollective, .function = "AllReduce", .function_number = 4, .count = count};
  task.parent = call(communicator, task);
  run(communicator, "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LLi", [&] { tell(communicator, task); });
}

void FakeNccl::gather(void* communicator, void* parent, std::uint64_t count) {
  Task task{.type = nccl::kCollective, .function = "AllGather", .function_number = 2, .count = count};
  task.parent = parent == nullptr ? call(communicator, task) : parent;
  task.count = 4 * count;
  task.datatype = kInt8;
  run(communicator, "_Z31ncclDevKernel_AllGather_RING_LLi", [&] { tell(communicator, task); });
}

void FakeNccl::all_gather(void* communicator, std::uint64_t count) { gather(communicator, nullptr, count); }

void FakeNccl::all_gathers(void* communicator, std::uint64_t calls) {
  std::vector<void*> parents;
  for (std::uint64_t i = 1; i <= calls; ++i) {
    parents.push_back(call(communicator, {.type = nccl::kCollective, .function = "AllGather", .count = i}));
  }
  for (std::uint64_t i = 1; i <= calls; ++i) gather(communicator, parents[i - 1], i);
}

void FakeNccl::exchange(void* communicator, int ranks, std::uint64_t count) {
  run(communicator, "_Z23ncclDevKernel_SendRecvi", [&] {
    for (int peer = 0; peer < ranks; ++peer) {
      tell(communicator,
           {.type = nccl::kPointToPoint, .function = "Send", .function_number = 6, .count = count, .peer = peer});
      tell(communicator,
           {.type = nccl::kPointToPoint, .function = "Recv", .function_number = 7, .count = 2 * count, .peer = peer});
    }
  });
}

}  // namespace interlace::testing
