#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cupti_collector/records.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::collector {

/// "_Z3addPf" -> "add(float*)"; any other text stays.
[[nodiscard]] std::string demangled(const char* name);
/// As profilers call it: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)".
[[nodiscard]] std::string copy_name(const CopyRecord& copy);
/// Of CUPTI_ACTIVITY_KIND_OVERHEAD.
[[nodiscard]] std::string overhead_name(std::uint32_t kind);
/// What a kernel of NCCL does, by its plain name ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)"); none where it is no
/// kernel of NCCL.
[[nodiscard]] std::optional<trace::CollectiveFunction> collective_of_kernel(std::string_view name);
/// NCCL's word for it, "AllReduce"; "unknown" where the function is.
[[nodiscard]] std::string_view collective_name(trace::CollectiveFunction function);

/// Kernel names by CUPTI's pointer to them. A module that is unloaded may leave its memory to another name, so the text
/// is compared as well.
class KernelNames {
 public:
  struct Known {
    std::string mangled;
    trace::StringId id;
    std::optional<trace::CollectiveFunction> function;  ///< of a collective; none: it is another kernel
  };
  /// The name, put into the file where it is new. name may be null.
  [[nodiscard]] const Known& find(const char* name, trace::IltWriter& writer);

 private:
  std::unordered_map<const char*, Known> known_;
};

}  // namespace interlace::collector
