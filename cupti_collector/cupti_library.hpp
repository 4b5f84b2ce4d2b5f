#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace interlace::collector {

/// The functions of the libcupti that this process uses, found at run time: torch brings its own copy, and two copies
/// in one process take each other's records. Null where that version lacks the function.
struct CuptiLibrary {
  std::string path;
  std::uint32_t version = 0;  ///< cuptiGetVersion

  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiSubscribe) subscribe = nullptr;
  decltype(&::cuptiSubscribe_v2) subscribe_v2 = nullptr;
  decltype(&::cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&::cuptiEnableCallback) enable_callback = nullptr;
  decltype(&::cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&::cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&::cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;
  decltype(&::cuptiActivityEnableDriverApi) enable_driver_api = nullptr;
  decltype(&::cuptiActivityEnableAllSyncRecords) enable_all_sync_records = nullptr;
  decltype(&::cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) get_dropped_records = nullptr;
  decltype(&::cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&::cuptiGetContextId) get_context_id = nullptr;
  decltype(&::cuptiGetStreamIdEx) get_stream_id = nullptr;
  decltype(&::cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;

  /// What a status means, in CUPTI's words.
  [[nodiscard]] std::string describe(CUptiResult status) const;
  /// Whether it takes it well when a buffer is refused. Before CUDA 12.9 it writes to the buffer all the same.
  [[nodiscard]] bool takes_refusals() const { return version >= kVersionThatTakesRefusals; }
  /// So many records are in the buffer, as far as it can be read. Any thread.
  [[nodiscard]] std::int64_t count_records(std::uint8_t* buffer, std::size_t valid_bytes) const noexcept;

  static constexpr std::uint32_t kVersionThatTakesRefusals = 27;
};

/// CUDA 12.0: older structs are not known here.
inline constexpr std::uint32_t kOldestVersion = 19;

/// The libcupti that is loaded already, else the first that can be loaded: by soname, then in the folders where
/// toolkits put it. asked: a file to take instead of all of these; may be empty. tried: receives what was in vain.
[[nodiscard]] std::optional<CuptiLibrary> load_cupti(const std::string& asked, std::vector<std::string>& tried);

}  // namespace interlace::collector
