#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "simulator/trace/operation.hpp"

namespace interlace::collector {

/// CUPTI's records as plain values. Only decode.cpp knows the structs they come from. Times are nanoseconds of CUPTI's
/// clock; texts live as long as the record's buffer.

struct KernelRecord {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  const char* name = nullptr;  ///< mangled
  std::array<std::int32_t, 3> grid{1, 1, 1};
  std::array<std::int32_t, 3> block{1, 1, 1};
  std::int32_t registers = 0;
  std::int64_t shared_bytes = 0;
  std::optional<std::uint64_t> graph_node;
};

/// Where a copy begins or ends, as the CUDA driver classes memory.
enum class MemoryClass : std::uint8_t { kUnknown, kPageable, kPinned, kDevice, kArray, kManaged };

struct CopyRecord {
  bool is_memset = false;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::int64_t bytes = 0;
  std::uint8_t direction = 0;  ///< CUPTI's copy kind: 1 HtoD, 2 DtoH ... 10 PtoP; unused for a memset
  MemoryClass source = MemoryClass::kUnknown;
  MemoryClass destination = MemoryClass::kUnknown;
  std::optional<std::uint64_t> graph_node;
};

/// A whole CUDA graph as one record (graph mode).
struct GraphRecord {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint32_t graph = 0;
};

enum class ApiDomain : std::uint8_t { kRuntime, kDriver };

struct CallRecord {
  ApiDomain domain = ApiDomain::kRuntime;
  std::uint32_t function = 0;  ///< CUPTI's callback id
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  std::uint32_t result = 0;  ///< cudaError_t or CUresult
};

struct EventRecord {
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::optional<std::uint32_t> device;  ///< none where the driver does not give it
  std::optional<std::uint64_t> number;  ///< cudaEventSyncId; none where the driver does not give it
};

enum class SyncType : std::uint8_t { kUnknown, kEvent, kStreamWait, kStream, kContext };

struct SyncRecord {
  SyncType type = SyncType::kUnknown;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::optional<std::uint32_t> stream;
  std::optional<std::uint32_t> event;
  std::optional<std::uint64_t> number;  ///< of the event record waited for
};

enum class StreamFlag : std::uint8_t { kUnknown, kBlocking, kNonBlocking, kNull };

struct StreamRecord {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::int32_t priority = 0;
  StreamFlag flag = StreamFlag::kUnknown;
};

/// A stream that the program made. No record says its handle: it comes from a callback.
struct StreamMade {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint64_t handle = 0;  ///< cudaStream_t as a number
};

struct ContextRecord {
  std::uint32_t context = 0;
  std::uint32_t device = 0;
  std::uint32_t null_stream = 0;
};

struct DeviceRecord {
  std::uint32_t device = 0;
  const char* name = nullptr;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t threads_per_multiprocessor = 0;
  std::int64_t registers_per_multiprocessor = 0;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  std::int64_t memory_bytes = 0;
};

/// Time that the profiler itself took in a thread of the program.
struct OverheadRecord {
  std::uint32_t kind = 0;  ///< CUPTI's
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::optional<std::uint32_t> thread;
};

/// Memory that the driver handed out or took back.
struct AllocationRecord {
  bool is_release = false;
  MemoryClass memory = MemoryClass::kUnknown;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint64_t time = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t correlation = 0;
  std::optional<std::uint32_t> stream;  ///< of a call that a stream orders (cudaMallocAsync)
};

/// A number that the program gave the calls of a thread (cuptiActivityPushExternalCorrelationId).
struct ExternalRecord {
  std::uint32_t correlation = 0;
  trace::ExternalKind kind = trace::ExternalKind::kUnknown;
  std::uint64_t id = 0;
};

/// Takes records one by one.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void on(const KernelRecord& kernel) = 0;
  virtual void on(const CopyRecord& copy) = 0;
  virtual void on(const GraphRecord& graph) = 0;
  virtual void on(const CallRecord& call) = 0;
  virtual void on(const EventRecord& event) = 0;
  virtual void on(const SyncRecord& sync) = 0;
  virtual void on(const StreamRecord& stream) = 0;
  virtual void on(const ContextRecord& context) = 0;
  virtual void on(const DeviceRecord& device) = 0;
  virtual void on(const OverheadRecord& overhead) = 0;
  virtual void on(const AllocationRecord& allocation) = 0;
  virtual void on(const ExternalRecord& external) = 0;
};

}  // namespace interlace::collector
