#include "cupti_collector/names.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace interlace::collector {

namespace {

/// Addresses that no longer lead to their name are forgotten once there are so many.
constexpr std::size_t kMostAddresses = 1U << 16U;

std::string_view class_name(MemoryClass memory) {
  switch (memory) {
    case MemoryClass::kPageable: return "Pageable";
    case MemoryClass::kPinned: return "Pinned";
    case MemoryClass::kDevice: return "Device";
    case MemoryClass::kArray: return "Array";
    case MemoryClass::kManaged: return "Managed";
    case MemoryClass::kUnknown: break;
  }
  return "Unknown";
}

std::string_view direction_name(std::uint8_t direction) {
  static constexpr std::array<std::string_view, 11> kNames{"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                           "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  return direction < kNames.size() ? kNames[direction] : kNames[0];
}

using enum trace::CollectiveFunction;
/// In this order: "ReduceScatter" holds "Reduce" and "Scatter", "AllGather" holds "Gather".
constexpr std::array<std::pair<std::string_view, trace::CollectiveFunction>, 9> kFunctions{
    {{"AlltoAll", kAllToAll},
     {"ReduceScatter", kReduceScatter},
     {"AllReduce", kAllReduce},
     {"AllGather", kAllGather},
     {"Broadcast", kBroadcast},
     {"SendRecv", kSendRecv},
     {"Reduce", kReduce},
     {"Gather", kGather},
     {"Scatter", kScatter}}};

}  // namespace

std::string demangled(const char* name) {
  if (name == nullptr) return "(unnamed)";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string(name);
}

std::string copy_name(const CopyRecord& copy) {
  std::string name;
  if (copy.is_memset) {
    name = "Memset (";
  } else {
    name = "Memcpy ";
    name += direction_name(copy.direction);
    name += " (";
    name += class_name(copy.source);
    name += " -> ";
  }
  name += class_name(copy.destination);
  return name += ')';
}

std::string overhead_name(std::uint32_t kind) {
  constexpr unsigned kKindShift = 16;
  static constexpr std::array<std::string_view, 9> kNames{"",
                                                          "Profiler buffer flush",
                                                          "Profiler instrumentation",
                                                          "Profiler resource",
                                                          "Module loading",
                                                          "Lazy function loading",
                                                          "Command buffer full",
                                                          "Profiler buffer request",
                                                          "Profiler unified memory start"};
  const std::uint32_t index = kind >> kKindShift;
  if (index >= 1 && index < kNames.size()) return std::string(kNames[index]);
  return kind == 1 ? "Driver compiler" : "Profiler overhead " + std::to_string(kind);
}

std::optional<trace::CollectiveFunction> collective_of_kernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (!name.starts_with("nccl")) return std::nullopt;
  name = name.substr(0, name.find('('));
  for (const auto& [part, function] : kFunctions) {
    if (name.find(part) != std::string_view::npos) return function;
  }
  return kUnknown;
}

std::string_view collective_name(trace::CollectiveFunction function) {
  for (const auto& [name, known] : kFunctions) {
    if (known == function) return name;
  }
  return "unknown";
}

const KernelNames::Known& KernelNames::find(const char* name, trace::IltWriter& writer) {
  const std::string_view text = name == nullptr ? std::string_view() : std::string_view(name);
  const auto known = known_.find(name);
  if (known != known_.end() && known->second.mangled == text) return known->second;
  if (known_.size() >= kMostAddresses) known_.clear();
  const std::string plain = demangled(name);
  Known entry{std::string(text), writer.intern(plain), collective_of_kernel(plain)};
  return known_.insert_or_assign(name, std::move(entry)).first->second;
}

}  // namespace interlace::collector
