#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "simulator/trace/trace.hpp"

namespace interlace::report {

/// One trace in a file that shows several beside each other.
struct ChromeRun {
  const trace::Trace* trace = nullptr;  ///< never null when written
  std::string title;                    ///< "measured", "predicted torchrec/base"; may be empty
  Nanoseconds align = 0;                ///< an instant of this trace, drawn where those of the other runs are
};

/// Writes Chrome's trace event format, which Perfetto and chrome://tracing load: a process for each (run, rank) named
/// "<title> rank <n>", a thread for each row of lay_out(), flow arrows from launches to device work. Times are
/// microseconds with exactly three decimals. Written as a stream: memory does not grow with the trace.
void write_chrome_trace(std::ostream& out, std::span<const ChromeRun> runs);

}  // namespace interlace::report
