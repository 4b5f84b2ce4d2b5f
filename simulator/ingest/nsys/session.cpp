#include "simulator/ingest/nsys/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <tuple>

#include "simulator/ingest/nsys/flaws.hpp"

namespace interlace::ingest::nsys {

namespace {

/// A table of names and values.
std::map<std::string, std::string> pairs_of(const Database& database, std::string_view table) {
  static constexpr std::array<std::string_view, 2> kColumns{"name", "value"};
  std::map<std::string, std::string> pairs;
  Rows rows = database.rows(table, kColumns);
  while (rows.next()) {
    const auto name = rows.text(0);
    const auto value = rows.text(1);
    if (name && value) pairs.emplace(*name, *value);
  }
  return pairs;
}

std::string producer_of(const std::map<std::string, std::string>& of_export) {
  const auto value = [&](const char* name) {
    const auto known = of_export.find(name);
    return known == of_export.end() ? std::string("?") : known->second;
  };
  return fmt::format("Nsight Systems {}, schema {}", value("EXPORT_PRODUCT_VERSION"), value("EXPORT_SCHEMA_VERSION"));
}

/// Times count from the session's start unless the export was asked to write those of the clock on the wall.
Nanoseconds base_time_of(const Database& database, const std::map<std::string, std::string>& of_export) {
  const auto normalized = of_export.find("EXPORT_PARAM_TIME_NORMALIZE");
  if (normalized != of_export.end() && normalized->second == "true") return 0;
  static constexpr std::array<std::string_view, 1> kColumns{"utcEpochNs"};
  Rows rows = database.rows("TARGET_INFO_SESSION_START_TIME", kColumns);
  return rows.next() ? rows.integer(0).value_or(0) : 0;
}

std::string host_name_of(const Database& database) {
  const auto environment = pairs_of(database, "TARGET_INFO_SYSTEM_ENV");
  const auto host = environment.find("Hostname");
  return host == environment.end() ? std::string() : host->second;
}

/// Which processes did device work, in which contexts of which devices.
std::vector<Process> at_work(const Database& database) {
  static constexpr std::array<std::string_view, 3> kColumns{"globalPid", "contextId", "deviceId"};
  std::map<std::int64_t, Process> processes;
  for (const std::string_view table : {kKernels, kCopies, kMemsets, kGraphs}) {
    Rows rows = database.sums(table, kColumns, "start", "end");
    while (rows.next()) {
      const auto global_id = rows.integer(0);
      if (!global_id) continue;
      Process& process = processes[process_part(*global_id)];
      process.global_id = process_part(*global_id);
      process.device_ns += rows.real(3).value_or(0);
      const auto device = rows.integer(2);
      if (device) process.device_of_context.emplace(rows.integer(1).value_or(0), *device);
    }
  }
  std::vector<Process> sorted;
  for (auto& [global_id, process] : processes) sorted.push_back(std::move(process));
  // The upper bits tell the host.
  const auto place = [](const Process& process) {
    std::int64_t first = INT64_MAX;
    for (const auto& [context, device] : process.device_of_context) first = std::min(first, device);
    return std::tuple(process.global_id >> 48, first, process.global_id);
  };
  std::ranges::sort(sorted, {}, place);
  return sorted;
}

/// Helpers clear a buffer or look for devices; a rank of the job does about what the others do.
void leave_out_helpers(const Database& database, std::vector<Process>& processes, Diagnostics& diagnostics) {
  constexpr double kLeastPart = 0.01;
  double most = 0;
  for (const Process& process : processes) most = std::max(most, process.device_ns);
  std::erase_if(processes, [&](const Process& process) {
    if (process.device_ns >= kLeastPart * most) return false;
    diagnostics.count(kHelperProcess, fmt::format("{}: process {}", database.file().string(), process.id()));
    return true;
  });
}

std::vector<Process> with_threads(const Database& database, std::string_view table) {
  static constexpr std::array<std::string_view, 1> kColumns{"globalTid"};
  std::set<std::int64_t> global_ids;
  Rows rows = database.sums(table, kColumns, "start", "end");
  while (rows.next()) {
    if (const auto thread = rows.integer(0)) global_ids.insert(process_part(*thread));
  }
  std::vector<Process> processes;
  for (const std::int64_t global_id : global_ids) processes.push_back({global_id, 0, {}, {}});
  return processes;
}

std::vector<Process> processes_of(const Database& database, Diagnostics& diagnostics) {
  std::vector<Process> processes = at_work(database);
  leave_out_helpers(database, processes, diagnostics);
  if (processes.empty()) processes = with_threads(database, kCalls);
  if (processes.empty()) processes = with_threads(database, kRanges);
  return processes;
}

/// GPUs of the machine by their number there.
std::map<std::int64_t, trace::Device> gpus_of(const Database& database) {
  static constexpr std::array<std::string_view, 10> kColumns{"id",
                                                             "name",
                                                             "computeMajor",
                                                             "computeMinor",
                                                             "smCount",
                                                             "maxWarpsPerSm",
                                                             "threadsPerWarp",
                                                             "maxRegistersPerSm",
                                                             "maxShmemPerSm",
                                                             "totalMemory"};
  std::map<std::int64_t, trace::Device> gpus;
  Rows rows = database.rows("TARGET_INFO_GPU", kColumns);
  while (rows.next()) {
    const auto number = [&](std::size_t column, std::int64_t most) {
      return std::clamp<std::int64_t>(rows.integer(column).value_or(0), 0, most);
    };
    constexpr std::int64_t kMost = 1 << 30;
    constexpr std::int64_t kMostOfOneSm = 1 << 15;
    trace::Device gpu;
    gpu.name = rows.text(1).value_or("");
    gpu.compute_major = static_cast<std::int32_t>(number(2, kMost));
    gpu.compute_minor = static_cast<std::int32_t>(number(3, kMost));
    gpu.sm_count = static_cast<std::int32_t>(number(4, kMost));
    gpu.max_threads_per_sm = static_cast<std::int32_t>(number(5, kMostOfOneSm) * number(6, kMostOfOneSm));
    gpu.registers_per_sm = number(7, kMost);
    gpu.shared_memory_per_sm = number(8, kMost);
    gpu.memory = number(9, INT64_MAX);
    if (const auto id = rows.integer(0)) gpus.emplace(*id, gpu);
  }
  return gpus;
}

/// Which GPU of the machine each process knows under which ordinal.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ordinals_of(const Database& database) {
  static constexpr std::array<std::string_view, 3> kColumns{"pid", "cudaId", "gpuId"};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ordinals;
  Rows rows = database.rows("TARGET_INFO_CUDA_DEVICE", kColumns);
  while (rows.next()) {
    const auto process = rows.integer(0);
    const auto ordinal = rows.integer(1);
    const auto gpu = rows.integer(2);
    if (process && ordinal && gpu) ordinals.insert_or_assign({*process, *ordinal}, *gpu);
  }
  return ordinals;
}

void describe_devices(const Database& database, std::vector<Process>& processes, Diagnostics& diagnostics) {
  const auto gpus = gpus_of(database);
  const auto ordinals = ordinals_of(database);
  for (Process& process : processes) {
    std::set<std::int64_t> used;
    for (const auto& [context, device] : process.device_of_context) used.insert(device);
    for (const std::int64_t ordinal : used) {
      const auto seen_as = ordinals.find({process.id(), ordinal});
      const auto gpu = gpus.find(seen_as == ordinals.end() ? ordinal : seen_as->second);
      if (gpu == gpus.end()) {
        diagnostics.count(kNoDevices, fmt::format("{}: device {}", database.file().string(), ordinal));
        continue;
      }
      process.devices.push_back(gpu->second);
      process.devices.back().ordinal = ordinal;
    }
  }
}

/// Contexts without device work, of which synchronisation tells nothing but the number.
void add_idle_contexts(const Database& database, std::vector<Process>& processes) {
  static constexpr std::array<std::string_view, 3> kColumns{"processId", "contextId", "deviceId"};
  Rows rows = database.rows("TARGET_INFO_CUDA_CONTEXT_INFO", kColumns);
  while (rows.next()) {
    const auto context = rows.integer(1);
    const auto device = rows.integer(2);
    if (!context || !device) continue;
    for (Process& process : processes) {
      if (process.id() == rows.integer(0)) process.device_of_context.emplace(*context, *device);
    }
  }
}

/// A number of the environment that the recorded program was started in: RANK="3".
std::optional<std::int32_t> number_of(std::string_view setting, std::string_view name) {
  if (!setting.starts_with(name)) return std::nullopt;
  setting.remove_prefix(name.size());
  if (!setting.starts_with('=')) return std::nullopt;
  setting.remove_prefix(1);
  if (setting.size() > 2 && setting.front() == '"' && setting.back() == '"') {
    setting = setting.substr(1, setting.size() - 2);
  }
  std::int32_t number = 0;
  const auto [end, failure] = std::from_chars(setting.data(), setting.data() + setting.size(), number);
  const bool is_number = failure == std::errc() && end == setting.data() + setting.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

/// Where each rank was started under a recorder of its own, by torchrun, Slurm or Open MPI: the first that tells.
void read_rank(const Database& database, Session& session) {
  static constexpr std::array<std::string_view, 2> kColumns{"name", "value"};
  static constexpr std::array<std::string_view, 3> kRank{"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"};
  static constexpr std::array<std::string_view, 3> kWorld{"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"};
  std::array<std::optional<std::int32_t>, kRank.size()> ranks;
  std::array<std::optional<std::int32_t>, kWorld.size()> sizes;
  Rows rows = database.rows("META_DATA_CAPTURE", kColumns, 0, "name LIKE '%ENVIRONMENT_VARIABLE%'");
  while (rows.next()) {
    const std::string_view setting = rows.text(1).value_or("");
    for (std::size_t i = 0; i < kRank.size(); ++i) {
      if (const auto rank = number_of(setting, kRank[i])) ranks[i] = rank;
      if (const auto size = number_of(setting, kWorld[i])) sizes[i] = size;
    }
  }
  for (std::size_t i = 0; i < kRank.size() && !session.rank; ++i) {
    if (!ranks[i] || !sizes[i] || *ranks[i] >= *sizes[i]) continue;
    session.rank = ranks[i];
    session.world_size = sizes[i];
  }
}

void read_names(const Database& database, Session& session) {
  static constexpr std::array<std::string_view, 2> kTexts{"id", "value"};
  Rows texts = database.rows("StringIds", kTexts);
  while (texts.next()) {
    const auto id = texts.integer(0);
    const auto text = texts.text(1);
    if (id && text) session.texts.emplace(*id, *text);
  }
  static constexpr std::array<std::string_view, 2> kThreads{"globalTid", "nameId"};
  Rows threads = database.rows("ThreadNames", kThreads);
  while (threads.next()) {
    const auto thread = threads.integer(0);
    const auto name = session.texts.find(threads.integer(1).value_or(-1));
    if (thread && name != session.texts.end()) session.thread_names.insert_or_assign(*thread, name->second);
  }
  static constexpr std::array<std::string_view, 3> kStreams{"processId", "streamId", "priority"};
  Rows streams = database.rows("TARGET_INFO_CUDA_STREAM", kStreams);
  while (streams.next()) {
    const auto process = streams.integer(0);
    const auto stream = streams.integer(1);
    const auto priority = streams.integer(2);
    // Written without a sign: 4294967291 is -5.
    if (process && stream && priority && *priority <= UINT32_MAX && *priority >= INT32_MIN) {
      session.stream_priority.insert_or_assign({*process, *stream},
                                               static_cast<std::int32_t>(static_cast<std::uint32_t>(*priority)));
    }
  }
}

void count_complaints(const Database& database, Diagnostics& diagnostics) {
  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL: 1 information, 2 warning, 3 error, 4 verbose.
  constexpr std::int64_t kWarning = 2;
  constexpr std::int64_t kError = 3;
  static constexpr std::array<std::string_view, 2> kColumns{"severity", "text"};
  Rows rows = database.rows(kComplaints, kColumns);
  while (rows.next()) {
    const auto severity = rows.integer(0);
    if (severity != kWarning && severity != kError) continue;
    diagnostics.count(kRecorderWarning, fmt::format("{}: {}", database.file().string(), rows.text(1).value_or("")));
  }
}

}  // namespace

Session read_session(const Database& database, Diagnostics& diagnostics) {
  const auto of_export = pairs_of(database, "META_DATA_EXPORT");
  Session session;
  session.producer = producer_of(of_export);
  session.host_name = host_name_of(database);
  session.base_time = base_time_of(database, of_export);
  session.processes = processes_of(database, diagnostics);
  describe_devices(database, session.processes, diagnostics);
  add_idle_contexts(database, session.processes);
  if (session.processes.size() == 1) read_rank(database, session);
  read_names(database, session);
  count_complaints(database, diagnostics);
  return session;
}

}  // namespace interlace::ingest::nsys
