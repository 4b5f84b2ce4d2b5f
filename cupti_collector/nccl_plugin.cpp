// What NCCL calls where NCCL_PROFILER_PLUGIN names libinterlace_collector.so: a plugin of its profiler interface. Each
// communicator and each task becomes an event of the process's session, which joins tasks and kernels.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "cupti_collector/nccl_interface.hpp"
#include "cupti_collector/nccl_tasks.hpp"
#include "cupti_collector/process_session.hpp"

namespace {

using namespace interlace::collector;  // the functions below are a part of it
using Kind = HostEvents::Kind;

/// What a communicator's events bring back. NCCL may still use one whose communicator has ended: none is destroyed.
struct Communicator {
  std::uint32_t number = 0;
  std::atomic<bool> is_told{false};
  std::atomic<std::int64_t> collectives{0};
};

/// A call of the program, as the task that it becomes names it: tasks of some functions count bytes. The texts are
/// NCCL's own, which live on.
struct Call {
  std::uint64_t count = 0;
  const char* datatype = nullptr;
};

/// The newest calls of the process, whose tasks may be told of by another thread. A group that has more of them loses
/// the first ones' types: what NCCL hands back for a call is its number, which tells whether its place has been taken.
/// Neither locks nor waits.
class Calls {
 public:
  /// The call's number, from 1 on.
  std::uint64_t add(const Call& call) noexcept {
    const std::uint64_t number = last_.fetch_add(1, std::memory_order_relaxed) + 1;
    Place& place = places_[number % kMost];
    place.number.store(0, std::memory_order_relaxed);  // while it changes it is nobody's
    std::atomic_thread_fence(std::memory_order_release);
    place.count.store(call.count, std::memory_order_relaxed);
    place.datatype.store(call.datatype, std::memory_order_relaxed);
    place.number.store(number, std::memory_order_release);
    return number;
  }

  /// None where its place is another's by now.
  [[nodiscard]] std::optional<Call> find(std::uint64_t number) const noexcept {
    const Place& place = places_[number % kMost];
    if (place.number.load(std::memory_order_acquire) != number) return std::nullopt;
    const Call call{place.count.load(std::memory_order_relaxed), place.datatype.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    return place.number.load(std::memory_order_relaxed) == number ? std::optional(call) : std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = 4096;
  struct Place {
    std::atomic<std::uint64_t> number{0};
    std::atomic<std::uint64_t> count{0};
    std::atomic<const char*> datatype{nullptr};
  };
  std::atomic<std::uint64_t> last_{0};
  std::array<Place, kMost> places_{};
};

/// NCCL's functions carry no pointer of ours before a communicator is made, and calls belong to none.
Calls& calls() {
  static constinit Calls all;
  return all;
}

/// Of this thread; its tasks of one plan are done by one kernel.
std::uint32_t& plan() {
  thread_local std::uint32_t number = 0;
  return number;
}

constexpr std::array<std::string_view, 8> kFunctions{"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                                     "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr std::array<std::string_view, 12> kDatatypes{
    "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",   "ncclInt64",      "ncclUint64",
    "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

std::string_view text(const char* word) { return word == nullptr ? std::string_view() : std::string_view(word); }
std::string_view function_name(const char* name) { return text(name); }
std::string_view function_name(std::uint8_t number) {
  return number < kFunctions.size() ? kFunctions[number] : std::string_view();
}
std::string_view datatype_name(const char* name) { return text(name); }
std::string_view datatype_name(std::uint8_t number) {
  return number < kDatatypes.size() ? kDatatypes[number] : std::string_view();
}

template <std::size_t kSize>
void copy(std::string_view from, std::array<char, kSize>& to) {
  from = from.substr(0, kSize - 1);
  std::ranges::copy(from, to.begin());
}

template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& word) {
  return {word.data()};
}

std::uint64_t address(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer); }

template <class Payload>
void add(Kind kind, const Payload& payload) noexcept {
  static_assert(std::is_trivially_copyable_v<Payload>);
  if (Session* session = session_for_events()) session->add_payload(kind, &payload, sizeof(payload));
}

void tell(Communicator& communicator, std::string_view name, std::uint64_t id, int ranks) {
  if (communicator.is_told.exchange(true)) return;
  NcclCommunicator told{.number = communicator.number, .ranks = ranks, .id = id};
  copy(name, told.name);
  add(Kind::kCommunicator, told);
}

Communicator* make(void** context, int* mask) {
  static std::atomic<std::uint32_t> last{0};
  const bool is_wanted = session_for_events() != nullptr;
  auto* communicator = is_wanted ? new Communicator : nullptr;
  if (communicator != nullptr) communicator->number = ++last;
  *context = communicator;
  __atomic_store_n(mask, is_wanted ? nccl::kGroup | nccl::kCollective | nccl::kPointToPoint : 0, __ATOMIC_RELAXED);
  return communicator;
}

nccl::Result init_v1(void** context, int* mask) {
  make(context, mask);
  return nccl::kSuccess;
}

nccl::Result init_v4(void** context, int* mask, const char* name, std::uint64_t hash, int, int ranks, int,
                     nccl::Logger) {
  if (Communicator* communicator = make(context, mask)) tell(*communicator, text(name), hash, ranks);
  return nccl::kSuccess;
}

nccl::Result init_v5(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                     nccl::Logger logger) {
  return init_v4(context, mask, name, id, nodes, ranks, rank, logger);
}

template <class Event>
void* note_call(const Event& event) {
  const std::uint64_t number = calls().add({event.call.count, event.call.datatype});
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));  // NOLINT(performance-no-int-to-ptr)
}

/// An all-gather or broadcast is told in bytes by now; its call has what the program said.
void take_words_of_call(const void* parent, NcclTask& task, std::string_view& datatype) {
  const std::string_view function = text_of(task.function);
  const bool is_in_bytes = (function == "AllGather" || function == "Broadcast") && datatype == "ncclInt8";
  if (parent == nullptr || !is_in_bytes) return;
  const auto call = calls().find(address(parent));
  task.is_untyped = !call;
  if (!call) return;
  task.count = call->count;
  datatype = text(call->datatype);
}

template <class Event>
void add_collective(Communicator& communicator, const Event& event) {
  const auto& told = event.collective;
  NcclTask task{.communicator = communicator.number, .plan = plan(), .count = told.count};
  task.sequence = communicator.collectives++;
  task.channels = told.channels;
  task.send_buffer = address(told.send_buffer);
  task.receive_buffer = address(told.receive_buffer);
  copy(function_name(told.function), task.function);
  std::string_view datatype = datatype_name(told.datatype);
  if constexpr (std::is_same_v<Event, nccl::DescriptorV5>) take_words_of_call(event.parent, task, datatype);
  copy(datatype, task.datatype);
  add(Kind::kNcclTask, task);
}

template <class Event>
void add_point_to_point(const Communicator& communicator, const Event& event) {
  const auto& told = event.point_to_point;
  NcclTask task{
      .communicator = communicator.number, .plan = plan(), .count = told.count, .peer = told.peer, .rank = event.rank};
  copy(function_name(told.function), task.function);
  copy(datatype_name(told.datatype), task.datatype);
  const bool is_send = text_of(task.function) == "Send";
  (is_send ? task.send_buffer : task.receive_buffer) = address(told.buffer);
  if constexpr (requires { told.channels; }) task.channels = told.channels;
  add(Kind::kNcclTask, task);
}

template <class Event>
nccl::Result start(void* context, void** handle, Event* event) {
  *handle = nullptr;
  auto* communicator = static_cast<Communicator*>(context);
  if (communicator == nullptr || event == nullptr) return nccl::kSuccess;
  const auto type = static_cast<int>(event->type);
  if constexpr (requires { event->collective.communicator_hash; }) {
    if (type == nccl::kCollective) {
      tell(*communicator, text(event->collective.communicator_name), event->collective.communicator_hash, 0);
    } else if (type == nccl::kPointToPoint) {
      tell(*communicator, text(event->point_to_point.communicator_name), event->point_to_point.communicator_hash, 0);
    }
  }
  switch (type) {
    case nccl::kGroup: ++plan(); break;
    case nccl::kCollective: add_collective(*communicator, *event); break;
    case nccl::kPointToPoint: add_point_to_point(*communicator, *event); break;
    case nccl::kCollectiveCall: *handle = note_call(*event); break;
    default: break;
  }
  return nccl::kSuccess;
}

nccl::Result stop(void*) { return nccl::kSuccess; }
nccl::Result record_state(void*, int, void*) { return nccl::kSuccess; }
nccl::Result finalize(void*) { return nccl::kSuccess; }

}  // namespace

extern "C" {

#define INTERLACE_PLUGIN [[gnu::visibility("default")]] extern const
// NOLINTBEGIN(readability-identifier-naming): NCCL's names
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV1, nccl::DescriptorV1> ncclProfiler_v1;
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV1, nccl::DescriptorV2> ncclProfiler_v2;
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV1, nccl::DescriptorV3> ncclProfiler_v3;
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV4, nccl::DescriptorV4> ncclProfiler_v4;
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV5, nccl::DescriptorV5> ncclProfiler_v5;
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV5, nccl::DescriptorV5> ncclProfiler_v6;
INTERLACE_PLUGIN nccl::Profiler<nccl::InitV5, nccl::DescriptorV5> ncclProfiler_v7;
#undef INTERLACE_PLUGIN

const nccl::Profiler<nccl::InitV1, nccl::DescriptorV1> ncclProfiler_v1{"Interlace", init_v1,      start,
                                                                       stop,        record_state, finalize};
const nccl::Profiler<nccl::InitV1, nccl::DescriptorV2> ncclProfiler_v2{"Interlace", init_v1,      start,
                                                                       stop,        record_state, finalize};
const nccl::Profiler<nccl::InitV1, nccl::DescriptorV3> ncclProfiler_v3{"Interlace", init_v1,      start,
                                                                       stop,        record_state, finalize};
const nccl::Profiler<nccl::InitV4, nccl::DescriptorV4> ncclProfiler_v4{"Interlace", init_v4,      start,
                                                                       stop,        record_state, finalize};
const nccl::Profiler<nccl::InitV5, nccl::DescriptorV5> ncclProfiler_v5{"Interlace", init_v5,      start,
                                                                       stop,        record_state, finalize};
const nccl::Profiler<nccl::InitV5, nccl::DescriptorV5> ncclProfiler_v6{"Interlace", init_v5,      start,
                                                                       stop,        record_state, finalize};
const nccl::Profiler<nccl::InitV5, nccl::DescriptorV5> ncclProfiler_v7{"Interlace", init_v5,      start,
                                                                       stop,        record_state, finalize};
// NOLINTEND(readability-identifier-naming)
}
