#include "simulator/ingest/nsys/device_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "simulator/ingest/names.hpp"
#include "simulator/ingest/nsys/flaws.hpp"
#include "simulator/trace/limits.hpp"

namespace interlace::ingest::nsys {

namespace {

using trace::StringId;

std::string_view direction(std::int64_t kind) {
  // ENUM_CUDA_MEMCPY_OPER; the last three are moves of unified memory.
  static constexpr std::array<std::string_view, 14> kNames{"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                                           "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  return kind >= 0 && kind < std::ssize(kNames) ? kNames[static_cast<std::size_t>(kind)] : kNames[0];
}

std::string_view memory_name(std::int64_t kind) {
  // ENUM_CUDA_MEM_KIND.
  static constexpr std::array<std::string_view, 7> kNames{"Pageable", "Pinned",        "Device",        "Array",
                                                          "Managed",  "Device Static", "Managed Static"};
  return kind >= 0 && kind < std::ssize(kNames) ? kNames[static_cast<std::size_t>(kind)] : "Unknown";
}

class DeviceWorkReader {
 public:
  DeviceWorkReader(const Database& database, Placement& placement) : database_(database), placement_(placement) {}

  void add_kernels() {
    enum : std::size_t {
      kDemangled = kWorkColumns,
      kShort,
      kMangled,
      kRegisters,
      kStaticShared,
      kDynamicShared,
      kGraphNode,
      kGrid,
      kBlock = kGrid + 3,
    };
    static const auto kColumns = with_work_columns(std::to_array<std::string_view>(
        {"demangledName", "shortName", "mangledName", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
         "graphNodeId", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}));
    Rows rows = database_.rows(kKernels, kColumns, kWorkColumns);
    while (rows.next()) {
      std::optional<std::int64_t> text = rows.integer(kDemangled);
      for (const std::size_t other : {kShort, kMangled}) text = text ? text : rows.integer(other);
      const KernelName& name = kernel_name(text);
      const auto all = common(rows, name.id);
      const auto shared_memory = sum(rows, kStaticShared, kDynamicShared);
      if (!all || !shared_memory) continue;
      trace::KernelDetail detail;
      for (std::size_t i = 0; i < 3; ++i) {
        detail.grid[i] = dimension(rows.integer(kGrid + i), trace::kLargestGrid[i]);
        detail.block[i] = dimension(rows.integer(kBlock + i), trace::kLargestBlock[i]);
      }
      detail.registers_per_thread = dimension(rows.integer(kRegisters), INT32_MAX, 0);
      detail.shared_memory = *shared_memory;
      detail.priority = placement_.builder().lane_info(all->lane).priority;
      if (const auto node = rows.integer(kGraphNode); node && *node != 0) detail.graph_node = node;
      if (name.collective) {
        placement_.count(kCollectiveWithoutMetadata);
        placement_.builder().add_collective(*all, detail, *name.collective);
      } else {
        placement_.builder().add_kernel(*all, detail);
      }
    }
  }

  void add_copies() {
    enum : std::size_t { kBytes = kWorkColumns, kKind, kSource, kDestination };
    static const auto kColumns =
        with_work_columns(std::to_array<std::string_view>({"bytes", "copyKind", "srcKind", "dstKind"}));
    Rows rows = database_.rows(kCopies, kColumns, kWorkColumns);
    while (rows.next()) {
      const CopyName& name = copy_name(rows.integer(kKind).value_or(0), rows.integer(kSource).value_or(-1),
                                       rows.integer(kDestination).value_or(-1));
      add_bytes(rows, kBytes, name,
                [&](const auto& all, const auto& detail) { placement_.builder().add_copy(all, detail); });
    }
  }

  void add_memsets() {
    enum : std::size_t { kBytes = kWorkColumns, kMemory };
    static const auto kColumns = with_work_columns(std::to_array<std::string_view>({"bytes", "memKind"}));
    Rows rows = database_.rows(kMemsets, kColumns, kWorkColumns);
    while (rows.next()) {
      const CopyName name = named_copy(fmt::format("Memset ({})", memory_name(rows.integer(kMemory).value_or(-1))));
      add_bytes(rows, kBytes, name,
                [&](const auto& all, const auto& detail) { placement_.builder().add_memset(all, detail); });
    }
  }

  void add_graphs() {
    enum : std::size_t { kGraph = kWorkColumns };
    static const auto kColumns = with_work_columns(std::to_array<std::string_view>({"graphId"}));
    Rows rows = database_.rows(kGraphs, kColumns, kWorkColumns);
    while (rows.next()) {
      const auto graph = rows.integer(kGraph);
      const StringId name = placement_.builder().intern(graph ? fmt::format("CUDA graph {}", *graph) : "CUDA graph");
      const auto all = common(rows, name);
      if (!all) continue;
      placement_.builder().add_kernel(*all, {});
      placement_.count(kWholeGraph);
    }
  }

 private:
  /// The columns with which each table of device work is asked for begin so.
  enum WorkColumn : std::size_t { kStart, kEnd, kDevice, kStream, kCorrelation, kProcess, kWorkColumns };

  template <std::size_t kMore>
  static std::array<std::string_view, kWorkColumns + kMore> with_work_columns(
      const std::array<std::string_view, kMore>& columns) {
    std::array<std::string_view, kWorkColumns + kMore> all{"start",    "end",           "deviceId",
                                                           "streamId", "correlationId", "globalPid"};
    std::ranges::copy(columns, all.begin() + kWorkColumns);
    return all;
  }

  struct KernelName {
    StringId id;
    std::optional<trace::CollectiveDetail> collective;
  };
  struct CopyName {
    StringId id;
    trace::CopyDetail detail;  ///< without its bytes
  };

  /// A size; none where it is impossible.
  static std::optional<Bytes> amount(const Rows& rows, std::size_t column) {
    const std::int64_t bytes = rows.integer(column).value_or(0);
    return bytes >= 0 && bytes <= trace::kLargestAmount ? std::optional(bytes) : std::nullopt;
  }

  std::optional<Bytes> sum(const Rows& rows, std::size_t a, std::size_t b) {
    const auto first = amount(rows, a);
    const auto second = amount(rows, b);
    if (first && second) return std::min(*first + *second, trace::kLargestAmount);
    placement_.count(kUnusableRow);
    return std::nullopt;
  }

  static std::int32_t dimension(std::optional<std::int64_t> number, std::int32_t largest, std::int32_t least = 1) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(number.value_or(least), least, largest));
  }

  std::optional<trace::TraceBuilder::Common> common(const Rows& rows, StringId name) {
    const Placement::Owner* const owner = placement_.owner(rows.integer(kProcess));
    if (owner == nullptr) return std::nullopt;
    const auto device = rows.integer(kDevice);
    const auto stream = rows.integer(kStream);
    if (!device || !stream) {
      placement_.count(kUnusableRow);
      return std::nullopt;
    }
    return placement_.common(placement_.stream(*owner, *device, *stream), name, rows.integer(kStart),
                             rows.integer(kEnd), rows.integer(kCorrelation));
  }

  template <class Add>
  void add_bytes(const Rows& rows, std::size_t column, const CopyName& name, const Add& add) {
    const auto all = common(rows, name.id);
    if (!all) return;
    const auto bytes = amount(rows, column);
    if (!bytes) {
      placement_.count(kUnusableRow);
      return;
    }
    trace::CopyDetail detail = name.detail;
    detail.bytes = *bytes;
    add(*all, detail);
  }

  const KernelName& kernel_name(std::optional<std::int64_t> text) {
    const auto known = text ? kernel_names_.find(*text) : kernel_names_.end();
    if (known != kernel_names_.end()) return known->second;
    const std::string_view name = placement_.text(text);
    KernelName found{placement_.builder().intern(name), std::nullopt};
    if (is_collective_kernel(name)) {
      const StringId untold = placement_.builder().intern("");
      trace::CollectiveDetail& told = found.collective.emplace();
      told.function = collective_function(name);
      told.name = told.dtype = told.group = untold;
    }
    return kernel_names_.insert_or_assign(text.value_or(kNoText), found).first->second;
  }

  CopyName named_copy(const std::string& name) { return {placement_.builder().intern(name), copy_of_name(name)}; }

  /// As other profilers call it: "Memcpy HtoD (Pinned -> Device)".
  const CopyName& copy_name(std::int64_t kind, std::int64_t source, std::int64_t destination) {
    const auto key = std::tuple(kind, source, destination);
    const auto known = copy_names_.find(key);
    if (known != copy_names_.end()) return known->second;
    const std::string name =
        fmt::format("Memcpy {} ({} -> {})", direction(kind), memory_name(source), memory_name(destination));
    return copy_names_.emplace(key, named_copy(name)).first->second;
  }

  static constexpr std::int64_t kNoText = INT64_MIN;

  const Database& database_;
  Placement& placement_;
  std::unordered_map<std::int64_t, KernelName> kernel_names_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, CopyName> copy_names_;
};

}  // namespace

void add_device_work(const Database& database, Placement& placement) {
  DeviceWorkReader reader(database, placement);
  reader.add_kernels();
  reader.add_copies();
  reader.add_memsets();
  reader.add_graphs();
}

}  // namespace interlace::ingest::nsys
