#include "tests/support/nsys_export.hpp"

#include <sqlite3.h>

#include <set>
#include <stdexcept>
#include <utility>

namespace interlace::testing {

namespace {

/// As `nsys export` of 2026.2 writes them, less columns that nobody reads.
constexpr const char* kSchema = R"sql(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER,
  maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER,
  computeMinor INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER,
  contextId INTEGER, priority INTEGER, flag INTEGER);
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
  globalPid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
  shortName INTEGER, mangledName INTEGER, launchType INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER,
  gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER,
  dynamicSharedMemory INTEGER, gridId INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
  dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
  uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, overheadType INTEGER);
CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
)sql";

constexpr std::int64_t kNone = UINT32_MAX;  // no stream, no event

using trace::OperationId;
using trace::OperationKind;

/// Writes a trace into an export, row by row.
class TraceExport {
 public:
  explicit TraceExport(const trace::Trace& trace) : trace_(trace) {}

  std::string bytes() {
    export_.sql("BEGIN");
    describe_session();
    for (std::uint32_t i = 0; i < trace_.size(); ++i) write(OperationId{i});
    for (const trace::LaneId stream : streams_) describe_stream(trace_.lane(stream));
    export_.sql("COMMIT");
    return export_.bytes();
  }

 private:
  void describe_session() {
    export_.row("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", trace_.origin()}});
    if (!trace_.ranks().empty()) {
      export_.row("TARGET_INFO_SYSTEM_ENV", {{"name", "Hostname"}, {"value", trace_.ranks()[0].host_name}});
    }
    std::set<std::int64_t> written;
    for (const trace::Rank& rank : trace_.ranks()) {
      for (const trace::Device& device : rank.devices) {
        if (!written.insert(device.ordinal).second) continue;
        export_.row("TARGET_INFO_GPU", {{"id", device.ordinal},
                                        {"name", device.name},
                                        {"totalMemory", device.memory},
                                        {"smCount", device.sm_count},
                                        {"maxShmemPerSm", device.shared_memory_per_sm},
                                        {"maxRegistersPerSm", device.registers_per_sm},
                                        {"threadsPerWarp", 32},
                                        {"maxWarpsPerSm", device.max_threads_per_sm / 32},
                                        {"computeMajor", device.compute_major},
                                        {"computeMinor", device.compute_minor}});
      }
    }
  }

  [[nodiscard]] const trace::Rank& rank_of(const trace::Lane& lane) const { return trace_.ranks()[lane.rank.index()]; }
  [[nodiscard]] std::int64_t process_of(const trace::Lane& lane) const {
    return NsysExport::global(rank_of(lane).process_id);
  }

  /// Kineto numbers some threads by their address, of which Nsight Systems has no room for more than 24 bits.
  [[nodiscard]] std::int64_t thread_of(const trace::Lane& lane) const {
    return NsysExport::global(rank_of(lane).process_id, lane.number & 0xFFFFFF);
  }

  void describe_stream(const trace::Lane& lane) {
    if (!lane.priority) return;
    export_.row("TARGET_INFO_CUDA_STREAM", {{"streamId", lane.number},
                                            {"processId", rank_of(lane).process_id},
                                            {"contextId", lane.process + 1},
                                            {"priority", std::int64_t{static_cast<std::uint32_t>(*lane.priority)}}});
  }

  /// Of a host call, its own; of device work, that of its launch. Numbers are of the process, as CUPTI's are.
  [[nodiscard]] NsysExport::Value correlation(OperationId op) const {
    if (!trace::is_device_work(trace_.kind(op))) return std::int64_t{op.value} + 1;
    const auto launch = trace_.launch_of(op);
    return launch ? NsysExport::Value(std::int64_t{launch->value} + 1) : NsysExport::Value(std::int64_t{INT32_MAX});
  }

  void write(OperationId op) {
    switch (trace_.kind(op)) {
      case OperationKind::kKernel:
      case OperationKind::kCollective: return write_kernel(op);
      case OperationKind::kCopy:
      case OperationKind::kMemset: return write_copy(op);
      case OperationKind::kHostCall:
      case OperationKind::kEventRecord:
      case OperationKind::kStreamWait:
      case OperationKind::kHostSync: return write_call(op);
      case OperationKind::kRange: return write_range(op);
      case OperationKind::kDeviceRange:
      case OperationKind::kAllocation: return;
    }
  }

  void write_kernel(OperationId op) {
    const trace::Lane& lane = trace_.lane(trace_.lane_of(op));
    streams_.insert(trace_.lane_of(op));
    const trace::KernelDetail& kernel = *trace_.kernel(op);
    export_.row("CUPTI_ACTIVITY_KIND_KERNEL",
                {{"start", trace_.start(op)},
                 {"end", trace_.end(op)},
                 {"deviceId", lane.process},
                 {"contextId", lane.process + 1},
                 {"streamId", lane.number},
                 {"correlationId", correlation(op)},
                 {"globalPid", process_of(lane)},
                 {"demangledName", export_.text(trace_.name(op))},
                 {"registersPerThread", kernel.registers_per_thread},
                 {"gridX", kernel.grid[0]},
                 {"gridY", kernel.grid[1]},
                 {"gridZ", kernel.grid[2]},
                 {"blockX", kernel.block[0]},
                 {"blockY", kernel.block[1]},
                 {"blockZ", kernel.block[2]},
                 {"staticSharedMemory", kernel.shared_memory / 2},
                 {"dynamicSharedMemory", kernel.shared_memory - kernel.shared_memory / 2}});
  }

  static std::int64_t memory_kind(trace::MemorySpace space) {
    switch (space) {
      case trace::MemorySpace::kPageable: return 0;
      case trace::MemorySpace::kPinned: return 1;
      case trace::MemorySpace::kDevice: return 2;
      case trace::MemorySpace::kManaged: return 4;
      case trace::MemorySpace::kUnknown: break;
    }
    return 7;
  }

  void write_copy(OperationId op) {
    const trace::Lane& lane = trace_.lane(trace_.lane_of(op));
    streams_.insert(trace_.lane_of(op));
    const trace::CopyDetail& copy = *trace_.copy(op);
    using enum trace::MemorySpace;
    const bool from_device = copy.source == kDevice;
    const bool to_device = copy.destination == kDevice;
    const std::int64_t kind = copy.peer ? 10 : from_device && to_device ? 8 : to_device ? 1 : from_device ? 2 : 9;
    const bool is_copy = trace_.kind(op) == OperationKind::kCopy;
    export_.row(is_copy ? "CUPTI_ACTIVITY_KIND_MEMCPY" : "CUPTI_ACTIVITY_KIND_MEMSET",
                {{"start", trace_.start(op)},
                 {"end", trace_.end(op)},
                 {"deviceId", lane.process},
                 {"contextId", lane.process + 1},
                 {"streamId", lane.number},
                 {"correlationId", correlation(op)},
                 {"globalPid", process_of(lane)},
                 {"bytes", copy.bytes},
                 {is_copy ? "copyKind" : "memKind", is_copy ? kind : memory_kind(copy.destination)},
                 {is_copy ? "srcKind" : "value", is_copy ? memory_kind(copy.source) : 0},
                 {is_copy ? "dstKind" : "memKind", memory_kind(copy.destination)}});
  }

  void write_call(OperationId op) {
    const trace::Lane& lane = trace_.lane(trace_.lane_of(op));
    export_.row("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start", trace_.start(op)},
                                                {"end", trace_.end(op)},
                                                {"eventClass", 0},
                                                {"globalTid", thread_of(lane)},
                                                {"correlationId", correlation(op)},
                                                {"nameId", export_.text(std::string(trace_.name(op)) + "_v3020")}});
    const trace::SyncDetail* const sync = trace_.sync(op);
    if (sync != nullptr) write_sync(op, *sync, lane);
  }

  void write_sync(OperationId op, const trace::SyncDetail& sync, const trace::Lane& thread) {
    const auto context = [&](std::optional<trace::LaneId> stream) {
      return stream ? trace_.lane(*stream).process + 1 : 1;
    };
    const auto number = [&](std::optional<trace::LaneId> stream) {
      return stream ? trace_.lane(*stream).number : kNone;
    };
    if (sync.kind == trace::SyncKind::kEventRecord) {
      export_.row("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {{"deviceId", 0},
                                                     {"contextId", context(sync.stream)},
                                                     {"streamId", number(sync.stream)},
                                                     {"correlationId", correlation(op)},
                                                     {"globalPid", process_of(thread)},
                                                     {"eventId", sync.event.value_or(kNone)},
                                                     {"eventSyncId", std::int64_t{op.value} + 1}});
      return;
    }
    const std::int64_t type = sync.kind == trace::SyncKind::kStreamWaitEvent ? 2
                              : sync.kind == trace::SyncKind::kStreamSync    ? 3
                              : sync.kind == trace::SyncKind::kDeviceSync    ? 4
                                                                             : 1;
    export_.row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                {{"start", trace_.start(op)},
                 {"end", trace_.end(op)},
                 {"deviceId", 0},
                 {"contextId", context(sync.stream)},
                 {"streamId", number(sync.stream)},
                 {"correlationId", correlation(op)},
                 {"globalPid", process_of(thread)},
                 {"syncType", type},
                 {"eventId", sync.event.value_or(kNone)},
                 {"eventSyncId", sync.record ? std::int64_t{sync.record->value} + 1 : 0}});
  }

  void write_range(OperationId op) {
    const trace::Lane& lane = trace_.lane(trace_.lane_of(op));
    const trace::RangeDetail& range = *trace_.range(op);
    const std::int64_t thread = thread_of(lane);
    if (range.kind == trace::RangeKind::kProfilerOverhead) {
      export_.row("PROFILER_OVERHEAD", {{"start", trace_.start(op)},
                                        {"end", trace_.end(op)},
                                        {"globalTid", thread},
                                        {"nameId", export_.text(trace_.name(op))}});
    } else if (range.kind == trace::RangeKind::kCpuOp || range.kind == trace::RangeKind::kAnnotation) {
      std::string text(trace_.name(op));
      if (range.sequence_number) text += ", seq = " + std::to_string(*range.sequence_number);
      text += ", op_id = " + std::to_string(op.value + 1);
      if (op.value % 2 == 0) text += ", sizes = [[2, 3], []], input_op_ids = [(7, 0)]";
      export_.row("NVTX_EVENTS", {{"start", trace_.start(op)},
                                  {"end", trace_.end(op)},
                                  {"eventType", 59},
                                  {"text", text},
                                  {"globalTid", thread},
                                  {"domainId", 0}});
    }
  }

  const trace::Trace& trace_;
  NsysExport export_;
  std::set<trace::LaneId> streams_;
};

}  // namespace

void NsysExport::Close::operator()(sqlite3* connection) const { sqlite3_close(connection); }

NsysExport::NsysExport() {
  sqlite3* connection = nullptr;
  if (sqlite3_open(":memory:", &connection) != SQLITE_OK) throw std::runtime_error("no database in memory");
  connection_.reset(connection);
  sql(kSchema);
}

NsysExport& NsysExport::sql(const std::string& statement) {
  if (sqlite3_exec(connection_.get(), statement.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(statement + ": " + sqlite3_errmsg(connection_.get()));
  }
  return *this;
}

NsysExport& NsysExport::row(std::string_view table, std::initializer_list<Cell> cells) {
  std::map<std::string_view, Value> of_columns;  // of a column named twice, the last
  for (const Cell& cell : cells) of_columns[cell.column] = cell.value;
  std::string columns;
  std::string marks;
  for (const auto& [column, value] : of_columns) {
    columns.append(columns.empty() ? "" : ", ").append(column);
    marks += marks.empty() ? "?" : ", ?";
  }
  const std::string text = "INSERT INTO " + std::string(table) + " (" + columns + ") VALUES (" + marks + ")";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), text.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    throw std::runtime_error(text + ": " + sqlite3_errmsg(connection_.get()));
  }
  int at = 0;
  for (const auto& [column, value] : of_columns) {
    ++at;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) sqlite3_bind_int64(statement, at, *integer);
    if (const auto* real = std::get_if<double>(&value)) sqlite3_bind_double(statement, at, *real);
    if (const auto* words = std::get_if<std::string_view>(&value)) {
      sqlite3_bind_text(statement, at, words->data(), static_cast<int>(words->size()), SQLITE_TRANSIENT);
    }
  }
  sqlite3_step(statement);
  sqlite3_finalize(statement);
  return *this;
}

std::int64_t NsysExport::text(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  const auto id = static_cast<std::int64_t>(texts_.size()) + 1;
  texts_.emplace(text, id);
  row("StringIds", {{"id", id}, {"value", text}});
  return id;
}

NsysExport& NsysExport::call(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t correlation) {
  return row("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start", start},
                                             {"end", end},
                                             {"globalTid", global(kPid, kPid)},
                                             {"correlationId", correlation},
                                             {"nameId", text(name)}});
}

NsysExport& NsysExport::kernel(std::string_view name, std::int64_t stream, std::int64_t start, std::int64_t end,
                               std::int64_t correlation) {
  return row("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", start},
                                            {"end", end},
                                            {"deviceId", 0},
                                            {"contextId", 1},
                                            {"streamId", stream},
                                            {"correlationId", correlation},
                                            {"globalPid", global(kPid)},
                                            {"demangledName", text(name)},
                                            {"gridX", 4},
                                            {"gridY", 2},
                                            {"gridZ", 1},
                                            {"blockX", 128},
                                            {"blockY", 1},
                                            {"blockZ", 1}});
}

NsysExport& NsysExport::range(std::string_view text, std::int64_t start, std::int64_t end) {
  return row("NVTX_EVENTS", {{"start", start},
                             {"end", end},
                             {"eventType", 59},
                             {"text", text},
                             {"globalTid", global(kPid, kPid)},
                             {"domainId", 0}});
}

std::string NsysExport::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(connection_.get(), "main", &size, 0);
  std::string copy(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return copy;
}

std::string nsys_export_of(const trace::Trace& trace) { return TraceExport(trace).bytes(); }

}  // namespace interlace::testing
