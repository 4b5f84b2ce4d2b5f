#pragma once

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
/// Whether the kernel, by its plain name, is one of a collective library.
[[nodiscard]] bool is_collective_kernel(std::string_view name);

/// Kernel names by CUPTI's pointer to them. A module that is unloaded may leave its memory to another name, so the text
/// is compared as well.
class KernelNames {
 public:
  struct Known {
    std::string mangled;
    trace::StringId id;
    bool is_collective = false;
  };
  /// The name, put into the file where it is new. name may be null.
  [[nodiscard]] const Known& find(const char* name, trace::IltWriter& writer);

 private:
  std::unordered_map<const char*, Known> known_;
};

}  // namespace interlace::collector
