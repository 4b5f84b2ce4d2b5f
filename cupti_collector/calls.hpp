#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_collector/records.hpp"

namespace interlace::collector {

/// What a CUDA call means for the recording.
enum class CallRole : std::uint8_t {
  kLaunch,        ///< launches a kernel or a graph: device work must follow where it succeeds
  kCopy,          ///< copies or fills: device work may follow (not where nothing is to be copied)
  kEventRecord,   ///< records an event on a stream
  kStreamWait,    ///< makes a stream wait for an event
  kSync,          ///< blocks the thread until device work is done
  kQuery,         ///< asks whether device work is done
  kMemory,        ///< allocates or frees memory
  kBeginCapture,  ///< from here on launches may go into a graph instead of to the device
  kEndCapture,
  kOther,   ///< everything else that is worth a record
  kChatty,  ///< asks or sets what takes no time and orders nothing: not recorded
};

/// The name without version and per-thread suffixes: "cudaLaunchKernel_ptsz_v7000" -> "cudaLaunchKernel".
[[nodiscard]] std::string_view plain_call_name(std::string_view name);
/// By the plain name.
[[nodiscard]] CallRole call_role(std::string_view plain_name);

/// The functions of one API by CUPTI's number, as the loaded libcupti names them.
class CallTable {
 public:
  struct Call {
    std::string name;  ///< plain
    CallRole role = CallRole::kOther;
  };
  /// name_of(number): CUPTI's name; empty where it has none. Numbers are asked from 1 until many in a row have none.
  explicit CallTable(const std::function<std::string(std::uint32_t)>& name_of);

  /// A call named after its number where it is not in the table.
  [[nodiscard]] Call find(std::uint32_t number) const;
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }

 private:
  std::vector<Call> calls_;  ///< by number
};

}  // namespace interlace::collector
