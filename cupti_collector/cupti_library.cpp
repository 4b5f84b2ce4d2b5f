#include "cupti_collector/cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace interlace::collector {

namespace {

/// Newest first.
constexpr const char* kSonames[]{"libcupti.so.13", "libcupti.so.12"};

std::vector<std::string> candidates(const std::string& asked) {
  if (!asked.empty()) return {asked};
  std::vector<std::string> files(std::begin(kSonames), std::end(kSonames));
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read as the program starts CUDA
    if (const char* home = std::getenv(variable)) folders.emplace_back(home);
  }
  folders.emplace_back("/usr/local/cuda");
  for (const std::string& folder : folders) {
    for (const char* part : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/", "/targets/x86_64-linux/lib/"}) {
      for (const char* soname : kSonames) files.push_back(folder + part + soname);
    }
  }
  return files;
}

/// A handle that is never closed: CUPTI's threads and callbacks live to the end of the process.
void* open_any(const std::string& asked, std::vector<std::string>& tried) {
  if (asked.empty()) {
    for (const char* soname : kSonames) {
      if (void* handle = dlopen(soname, RTLD_NOW | RTLD_NOLOAD)) return handle;
    }
  }
  for (const std::string& file : candidates(asked)) {
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    tried.push_back(file);
  }
  return nullptr;
}

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

std::string CuptiLibrary::describe(CUptiResult status) const {
  const char* text = nullptr;
  if (get_result_string != nullptr && get_result_string(status, &text) == CUPTI_SUCCESS && text != nullptr) return text;
  return "CUPTI error " + std::to_string(static_cast<int>(status));
}

std::int64_t CuptiLibrary::count_records(std::uint8_t* buffer, std::size_t valid_bytes) const noexcept {
  std::int64_t records = 0;
  CUpti_Activity* record = nullptr;
  while (get_next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) ++records;
  return records;
}

std::optional<CuptiLibrary> load_cupti(const std::string& asked, std::vector<std::string>& tried) {
  void* handle = open_any(asked, tried);
  if (handle == nullptr) return std::nullopt;
  CuptiLibrary cupti;
  const bool is_complete =
      find(handle, "cuptiGetVersion", cupti.get_version) && find(handle, "cuptiSubscribe", cupti.subscribe) &&
      find(handle, "cuptiUnsubscribe", cupti.unsubscribe) &&
      find(handle, "cuptiEnableCallback", cupti.enable_callback) &&
      find(handle, "cuptiGetCallbackName", cupti.get_callback_name) &&
      find(handle, "cuptiActivitySetAttribute", cupti.set_attribute) &&
      find(handle, "cuptiSetThreadIdType", cupti.set_thread_id_type) &&
      find(handle, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
      find(handle, "cuptiActivityEnable", cupti.enable) && find(handle, "cuptiActivityDisable", cupti.disable) &&
      find(handle, "cuptiActivityGetNextRecord", cupti.get_next_record) &&
      find(handle, "cuptiActivityGetNumDroppedRecords", cupti.get_dropped_records) &&
      find(handle, "cuptiActivityFlushAll", cupti.flush_all) &&
      find(handle, "cuptiGetTimestamp", cupti.get_timestamp) &&
      find(handle, "cuptiGetResultString", cupti.get_result_string);
  // Newer than the oldest version that is understood.
  find(handle, "cuptiSubscribe_v2", cupti.subscribe_v2);
  find(handle, "cuptiGetContextId", cupti.get_context_id);
  find(handle, "cuptiGetStreamIdEx", cupti.get_stream_id);
  find(handle, "cuptiActivityEnableRuntimeApi", cupti.enable_runtime_api);
  find(handle, "cuptiActivityEnableDriverApi", cupti.enable_driver_api);
  find(handle, "cuptiActivityEnableAllSyncRecords", cupti.enable_all_sync_records);
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(cupti.get_version), &where) != 0 && where.dli_fname != nullptr) {
    cupti.path = where.dli_fname;
  }
  if (!is_complete || cupti.get_version(&cupti.version) != CUPTI_SUCCESS || cupti.version < kOldestVersion) {
    tried.push_back(cupti.path + " (version " + std::to_string(cupti.version) + ": too old)");
    return std::nullopt;
  }
  return cupti;
}

}  // namespace interlace::collector
