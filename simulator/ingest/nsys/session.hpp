#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/units.hpp"
#include "simulator/ingest/nsys/database.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest::nsys {

/// Nsight Systems numbers threads of all hosts through: the number of a process has its thread part empty.
[[nodiscard]] constexpr std::int64_t process_part(std::int64_t global_id) {
  return global_id & ~std::int64_t{0xFFFFFF};
}
[[nodiscard]] constexpr std::int64_t thread_id(std::int64_t global_id) { return global_id & 0xFFFFFF; }
[[nodiscard]] constexpr std::int64_t process_id(std::int64_t global_id) { return (global_id >> 24) & 0xFFFFFF; }

/// A process of the recorded job.
struct Process {
  std::int64_t global_id = 0;
  double device_ns = 0;                                    ///< of all its device work together
  std::map<std::int64_t, std::int64_t> device_of_context;  ///< of contexts that did device work, and others where told
  std::vector<trace::Device> devices;                      ///< those it used, by ordinal

  [[nodiscard]] std::int64_t id() const { return process_id(global_id); }
};

/// What an export says beside its events.
struct Session {
  std::string producer;   ///< "Nsight Systems 2026.2.1.210, schema 3.25.0"
  std::string host_name;  ///< empty where not told
  /// Of the job, where the program that was started told its only process so (RANK, WORLD_SIZE).
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> world_size;
  Nanoseconds base_time = 0;  ///< to be added to every time in the file
  /// Those that gave GPUs work, more than a hundredth of what the busiest one did; by host, device and number. Where
  /// none did: those that called CUDA, or have ranges.
  std::vector<Process> processes;
  std::unordered_map<std::int64_t, std::string> texts;                            ///< StringIds
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> stream_priority;  ///< by process id and stream
  std::map<std::int64_t, std::string> thread_names;                               ///< by global id
};

/// Tables of an export. In those of devices and of synchronisation processes are known by globalPid,
inline constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view kMemsets = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr std::string_view kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
inline constexpr std::string_view kRecords = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
/// in those of hosts threads by globalTid.
inline constexpr std::string_view kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view kRanges = "NVTX_EVENTS";
inline constexpr std::string_view kOverhead = "CUPTI_ACTIVITY_KIND_OVERHEAD";
inline constexpr std::string_view kProfilerOverhead = "PROFILER_OVERHEAD";
/// What the recorder noted of its own work.
inline constexpr std::string_view kComplaints = "DIAGNOSTIC_EVENT";

/// Counts GPUs that are not described, processes that did too little and what the recorder complained of. Throws
/// nsys.damaged, nsys.unknown_schema.
[[nodiscard]] Session read_session(const Database& database, Diagnostics& diagnostics);

}  // namespace interlace::ingest::nsys
