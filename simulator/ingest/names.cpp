#include "simulator/ingest/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace interlace::ingest {

namespace {

using trace::CollectiveFunction;
using trace::MemorySpace;
using trace::OperationKind;
using trace::SyncKind;

template <class Value, std::size_t kEntries>
std::optional<Value> look_up(const std::array<std::pair<std::string_view, Value>, kEntries>& table,
                             std::string_view text) {
  const auto found = std::ranges::find(table, text, &std::pair<std::string_view, Value>::first);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

/// "cudaEventRecord_v3020_ptsz" -> "EventRecord".
std::string_view without_prefix_and_version(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return name.substr(0, name.find('_'));
  }
  return {};
}

MemorySpace space_of(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, MemorySpace>, 7> kSpaces{{
      {"Device", MemorySpace::kDevice},
      {"Pinned", MemorySpace::kPinned},
      {"Pageable", MemorySpace::kPageable},
      {"Managed", MemorySpace::kManaged},
      {"Array", MemorySpace::kDevice},
      {"Device Static", MemorySpace::kDevice},
      {"Managed Static", MemorySpace::kManaged},
  }};
  return look_up(kSpaces, text).value_or(MemorySpace::kUnknown);
}

std::string lower_letters(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

}  // namespace

CallRole call_role(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, CallRole>, 9> kRoles{{
      {"EventRecord", {OperationKind::kEventRecord, SyncKind::kEventRecord}},
      {"EventRecordWithFlags", {OperationKind::kEventRecord, SyncKind::kEventRecord}},
      {"StreamWaitEvent", {OperationKind::kStreamWait, SyncKind::kStreamWaitEvent}},
      {"EventQuery", {OperationKind::kHostCall, SyncKind::kEventQuery}},
      {"EventSynchronize", {OperationKind::kHostSync, SyncKind::kEventSync}},
      {"StreamSynchronize", {OperationKind::kHostSync, SyncKind::kStreamSync}},
      {"DeviceSynchronize", {OperationKind::kHostSync, SyncKind::kDeviceSync}},
      {"ThreadSynchronize", {OperationKind::kHostSync, SyncKind::kDeviceSync}},
      {"CtxSynchronize", {OperationKind::kHostSync, SyncKind::kDeviceSync}},
  }};
  return look_up(kRoles, without_prefix_and_version(name)).value_or(CallRole{});
}

trace::CopyDetail copy_of_name(std::string_view name) {
  trace::CopyDetail copy;
  copy.peer = name.find("PtoP") != std::string_view::npos;
  const std::size_t open = name.find('(');
  const std::size_t close = name.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return copy;
  const std::string_view inside = name.substr(open + 1, close - open - 1);
  static constexpr std::string_view kArrow = " -> ";
  if (const std::size_t arrow = inside.find(kArrow); arrow != std::string_view::npos) {
    copy.source = space_of(inside.substr(0, arrow));
    copy.destination = space_of(inside.substr(arrow + kArrow.size()));
  } else {
    copy.source = MemorySpace::kDevice;
    copy.destination = space_of(inside);
  }
  return copy;
}

bool is_collective_kernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name.starts_with("nccl") || name.starts_with("rccl");
}

CollectiveFunction collective_function(std::string_view name) {
  // In this order: "reducescatter" holds both "reduce" and "scatter", "allgather" holds "gather".
  static constexpr std::array<std::pair<std::string_view, CollectiveFunction>, 11> kFunctions{{
      {"alltoall", CollectiveFunction::kAllToAll},
      {"reducescatter", CollectiveFunction::kReduceScatter},
      {"allreduce", CollectiveFunction::kAllReduce},
      {"allgather", CollectiveFunction::kAllGather},
      {"broadcast", CollectiveFunction::kBroadcast},
      {"barrier", CollectiveFunction::kBarrier},
      {"reduce", CollectiveFunction::kReduce},
      {"gather", CollectiveFunction::kGather},
      {"scatter", CollectiveFunction::kScatter},
      {"send", CollectiveFunction::kSendRecv},
      {"recv", CollectiveFunction::kSendRecv},
  }};
  const std::string letters = lower_letters(name.substr(0, name.find('(')));
  for (const auto& [part, function] : kFunctions) {
    if (letters.find(part) != std::string::npos) return function;
  }
  return CollectiveFunction::kUnknown;
}

std::optional<Bytes> element_bytes(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, Bytes>, 20> kTypes{{
      {"Float", 4},
      {"Double", 8},
      {"Half", 2},
      {"BFloat16", 2},
      {"Long", 8},
      {"Int", 4},
      {"Short", 2},
      {"Char", 1},
      {"Byte", 1},
      {"Bool", 1},
      {"UInt16", 2},
      {"UInt32", 4},
      {"UInt64", 8},
      {"ComplexHalf", 4},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1},
  }};
  return look_up(kTypes, dtype);
}

}  // namespace interlace::ingest
