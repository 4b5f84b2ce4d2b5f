#include "cupti_collector/activities.hpp"

#include <array>
#include <utility>

namespace interlace::collector {

namespace {

using Kind = std::pair<CUpti_ActivityKind, const char*>;

/// CUPTI keeps order among kinds by itself; the device and its contexts come first so that they are known early.
constexpr std::array kKinds{
    Kind{CUPTI_ACTIVITY_KIND_DEVICE, "devices"},
    Kind{CUPTI_ACTIVITY_KIND_CONTEXT, "contexts"},
    Kind{CUPTI_ACTIVITY_KIND_STREAM, "streams"},
    Kind{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels"},
    Kind{CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
    Kind{CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices"},
    Kind{CUPTI_ACTIVITY_KIND_MEMSET, "memsets"},
    // Since CUDA 12.9 neither of these two brings the other.
    Kind{CUPTI_ACTIVITY_KIND_CUDA_EVENT, "event records"},
    Kind{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation"},
    Kind{CUPTI_ACTIVITY_KIND_OVERHEAD, "profiler overhead"},
};

CallTable table_of(const CuptiLibrary& cupti, CUpti_CallbackDomain domain) {
  return CallTable([&cupti, domain](std::uint32_t number) {
    const char* name = nullptr;
    const bool is_known = cupti.get_callback_name(domain, number, &name) == CUPTI_SUCCESS && name != nullptr;
    return is_known ? std::string(name) : std::string();
  });
}

/// Calls that the simulation cannot do without.
bool is_essential(CallRole role) {
  return role != CallRole::kOther && role != CallRole::kChatty && role != CallRole::kMemory && role != CallRole::kQuery;
}

}  // namespace

Activities::Activities(const CuptiLibrary& cupti, bool light, bool whole_graphs)
    : cupti_(cupti),
      light_(light),
      kinds_(kKinds.begin(), kKinds.end()),
      runtime_(table_of(cupti, CUPTI_CB_DOMAIN_RUNTIME_API)),
      driver_(table_of(cupti, CUPTI_CB_DOMAIN_DRIVER_API)) {
  if (!light) kinds_.emplace_back(CUPTI_ACTIVITY_KIND_MEMORY2, "allocations");
  if (whole_graphs) kinds_.emplace_back(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "whole graphs");
}

void Activities::enable_calls(std::vector<std::string>& refused) {
  if (!light_ || cupti_.enable_runtime_api == nullptr) {
    const CUptiResult status = cupti_.enable(CUPTI_ACTIVITY_KIND_RUNTIME);
    if (status != CUPTI_SUCCESS) refused.push_back("runtime calls: " + cupti_.describe(status));
  }
  if (cupti_.enable_runtime_api == nullptr || cupti_.enable_driver_api == nullptr) return;
  for (std::uint32_t number = 1; number < runtime_.calls().size(); ++number) {
    const CallRole role = runtime_.calls()[number].role;
    if (runtime_.calls()[number].name.empty()) continue;
    if (light_ && is_essential(role)) cupti_.enable_runtime_api(number, 1);
    if (!light_ && role == CallRole::kChatty) cupti_.enable_runtime_api(number, 0);
  }
  // Most driver calls are made by the runtime for its own calls, which are recorded; of the rest, what orders work.
  for (std::uint32_t number = 1; number < driver_.calls().size(); ++number) {
    const bool is_wanted = !driver_.calls()[number].name.empty() && is_essential(driver_.calls()[number].role);
    if (is_wanted) cupti_.enable_driver_api(number, 1);
  }
}

std::vector<std::string> Activities::enable() {
  std::vector<std::string> refused;
  if (cupti_.enable_all_sync_records != nullptr) cupti_.enable_all_sync_records(0);
  for (const auto& [kind, name] : kinds_) {
    const CUptiResult status = cupti_.enable(kind);
    if (status != CUPTI_SUCCESS) refused.push_back(std::string(name) + ": " + cupti_.describe(status));
  }
  enable_calls(refused);
  return refused;
}

void Activities::disable() {
  for (const auto& [kind, name] : kinds_) cupti_.disable(kind);
  cupti_.disable(CUPTI_ACTIVITY_KIND_RUNTIME);
  cupti_.disable(CUPTI_ACTIVITY_KIND_DRIVER);
  if (cupti_.enable_runtime_api == nullptr || cupti_.enable_driver_api == nullptr) return;
  for (std::uint32_t number = 1; light_ && number < runtime_.calls().size(); ++number) {
    if (is_essential(runtime_.calls()[number].role)) cupti_.enable_runtime_api(number, 0);
  }
  for (std::uint32_t number = 1; number < driver_.calls().size(); ++number) {
    if (is_essential(driver_.calls()[number].role)) cupti_.enable_driver_api(number, 0);
  }
}

}  // namespace interlace::collector
