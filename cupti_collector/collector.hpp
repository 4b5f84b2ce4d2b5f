#pragma once

#include <filesystem>
#include <string_view>

#include "simulator/base/error.hpp"
#include "simulator/base/unrecorded_steps.hpp"

/// Recording from inside a program. Nothing here needs CUDA at build or run time: the functions look for the collector
/// library in the process, and where a program runs without `interlace record` and never calls `start`, marks and
/// ranges cost a check.
namespace interlace::collector {

inline constexpr ErrorCode kNoCollector{"record.no_collector"};
inline constexpr ErrorCode kCannotStart{"record.cannot_start"};

/// Begins to record into the folder, or goes on after `stop`. Under `interlace record` the folder may be empty: it is
/// the one chosen there. library: libinterlace_collector.so; empty: the loaded one, or found as dlopen finds it.
/// Makes the folder. Throws Error record.no_collector where there is no library, record.cannot_start where it cannot
/// record: the folder cannot be made or written to, an INTERLACE_RECORD_* variable is none, or there are no threads.
/// Where a recording has ended that had begun, as by --max-mb, it does nothing: the recording says so.
void start(const std::filesystem::path& folder = {}, const std::filesystem::path& library = {});
/// Stops recording. Work launched before is still written; the file is a whole trace from here on.
void stop() noexcept;
/// Writes what is complete; else that happens each 20 ms.
void flush() noexcept;

/// A point in time on this thread. name: UTF-8, cut to 4 KiB.
void mark(std::string_view name) noexcept;

/// Says how long steps of the program's loop took while nothing was recorded: a mark. To be called while recording.
void tell(const UnrecordedSteps& steps) noexcept;

/// A span of this thread, from construction to destruction. Ranges of a thread nest.
class Range {
 public:
  explicit Range(std::string_view name) noexcept;
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range();
};

}  // namespace interlace::collector
