#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/base/units.hpp"

namespace interlace::collector {

inline constexpr ErrorCode kBadOption{"record.bad_option"};

/// What part of a program to record; by default, all of it.
struct Plan {
  Nanoseconds begin = 0;  ///< since the first CUDA call
  std::optional<Nanoseconds> end;
  /// Or by steps: each begins with a mark or a range of this name. The first `skip` are left out, then `steps` are
  /// recorded. Empty: not by steps.
  std::string step_name;
  std::int64_t skip = 0;
  std::int64_t steps = 0;
  bool starts_off = false;  ///< recording begins where somebody says so

  [[nodiscard]] bool begins_off() const { return starts_off || begin > 0 || !step_name.empty(); }
  bool operator==(const Plan&) const = default;
};

/// How to record. `interlace record` passes it to the programs that it starts through the environment.
struct Options {
  std::filesystem::path folder;  ///< where the files of the recording go
  std::string run_id;            ///< equal for all processes of one recording
  std::string cupti;             ///< file of the libcupti to use; empty: the one that is loaded or found

  /// How often finished records are fetched and written: what is lost where the program is killed.
  Nanoseconds flush_period = 20 * kMillisecond;
  Bytes buffer_bytes = Bytes{1} << 20;
  Bytes buffers_limit = Bytes{256} << 20;  ///< memory for all buffers together
  bool light = false;                      ///< only the calls that launch, copy, record, wait or synchronise

  /// A launch of a CUDA graph is one operation, not one for each of its nodes.
  bool whole_graphs = false;

  Plan plan;
  Bytes most_bytes = 0;           ///< of a process's file: recording stops there; 0: no limit
  Bytes most_bytes_a_second = 0;  ///< beyond that, recording stops until the next second; 0: no limit
  Nanoseconds last = 0;           ///< keep only so much, in memory, until the end or until told; 0: write all

  /// Where CUPTI hangs as the program ends, the program's own exit may stand still for so long, before it is ended with
  /// its status. Not passed on.
  Nanoseconds longest_teardown = 300 * kSecond;

  bool operator==(const Options&) const = default;
};

/// The variables that carry the options, with their values.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> to_environment(const Options& options);

/// The value of an environment variable, null where it is not set.
using Variables = std::function<const char*(const char*)>;

/// What these variables say; none where they ask for no recording. The folder is absolute, as seen from where the
/// process is now. Throws Error record.bad_option.
[[nodiscard]] std::optional<Options> options_from(const Variables& variable);
/// What they say of how to record, into a folder that the program itself names. Throws Error record.bad_option.
[[nodiscard]] Options options_from(const Variables& variable, std::filesystem::path folder);

}  // namespace interlace::collector
