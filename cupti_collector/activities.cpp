#include "cupti_collector/activities.hpp"

namespace interlace::collector {

namespace {

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
      // Since CUDA 12.9 neither of these two brings the other.
      of_calls_{{CUPTI_ACTIVITY_KIND_CUDA_EVENT, "event records"},
                {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation"}},
      of_work_{{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels"},
               {CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
               {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices"},
               {CUPTI_ACTIVITY_KIND_MEMSET, "memsets"}},
      runtime_(table_of(cupti, CUPTI_CB_DOMAIN_RUNTIME_API)),
      driver_(table_of(cupti, CUPTI_CB_DOMAIN_DRIVER_API)) {
  if (!light) of_calls_.emplace_back(CUPTI_ACTIVITY_KIND_OVERHEAD, "profiler overhead");
  if (!light) of_calls_.emplace_back(CUPTI_ACTIVITY_KIND_MEMORY2, "allocations");
  if (!light) of_calls_.emplace_back(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "ids of the program's own");
  if (whole_graphs) of_work_.emplace_back(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "whole graphs");
}

void Activities::enable_kinds(const Kinds& kinds, std::vector<std::string>& refused) const {
  for (const auto& [kind, name] : kinds) {
    const CUptiResult status = cupti_.enable(kind);
    if (status != CUPTI_SUCCESS) refused.push_back(std::string(name) + ": " + cupti_.describe(status));
  }
}

void Activities::enable_calls(bool is_late, std::vector<std::string>& refused) {
  const bool can_choose = cupti_.enable_runtime_api != nullptr && cupti_.enable_driver_api != nullptr;
  // Calls that are chosen one by one are told of only where that is said before the first context is made. Later, all
  // are turned on and the unwanted ones muted.
  // Those of the runtime are muted always: chosen one by one, beside chosen ones of the driver, each launch costs more.
  enable_kinds({{CUPTI_ACTIVITY_KIND_RUNTIME, "runtime calls"}}, refused);
  if (!can_choose) return;
  if (is_late) enable_kinds({{CUPTI_ACTIVITY_KIND_DRIVER, "driver calls"}}, refused);
  const auto choose = [is_late](const CallTable& table, auto set) {
    for (std::uint32_t number = 1; number < table.calls().size(); ++number) {
      if (table.calls()[number].name.empty()) continue;
      const bool is_wanted = is_essential(table.calls()[number].role);
      if (is_wanted || is_late) set(number, is_wanted ? 1 : 0);
    }
  };
  for (std::uint32_t number = 1; number < runtime_.calls().size(); ++number) {
    const CallTable::Call& call = runtime_.calls()[number];
    const bool is_unwanted = light_ ? !is_essential(call.role) : call.role == CallRole::kChatty;
    if (!call.name.empty() && is_unwanted) cupti_.enable_runtime_api(number, 0);
  }
  // CUPTI leaves out the driver's calls within those of the runtime: what remains are those of the program itself.
  choose(driver_, cupti_.enable_driver_api);
}

std::vector<std::string> Activities::enable_places() {
  std::vector<std::string> refused;
  enable_kinds({{CUPTI_ACTIVITY_KIND_DEVICE, "devices"},
                {CUPTI_ACTIVITY_KIND_CONTEXT, "contexts"},
                {CUPTI_ACTIVITY_KIND_STREAM, "streams"}},
               refused);
  return refused;
}

std::vector<std::string> Activities::enable(bool is_late) {
  std::vector<std::string> refused;
  if (cupti_.enable_all_sync_records != nullptr) cupti_.enable_all_sync_records(0);
  // Work first: a launch that is told of must not run unseen.
  enable_kinds(of_work_, refused);
  enable_kinds(of_calls_, refused);
  enable_calls(is_late, refused);
  return refused;
}

void Activities::disable_calls() {
  cupti_.disable(CUPTI_ACTIVITY_KIND_RUNTIME);
  cupti_.disable(CUPTI_ACTIVITY_KIND_DRIVER);
  for (const auto& [kind, name] : of_calls_) cupti_.disable(kind);
  if (cupti_.enable_driver_api == nullptr) return;
  for (std::uint32_t number = 1; number < driver_.calls().size(); ++number) {
    if (is_essential(driver_.calls()[number].role)) cupti_.enable_driver_api(number, 0);
  }
}

void Activities::disable_work() {
  for (const auto& [kind, name] : of_work_) cupti_.disable(kind);
}

}  // namespace interlace::collector
