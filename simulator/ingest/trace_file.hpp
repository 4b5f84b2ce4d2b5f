#pragma once

#include <filesystem>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/ingest/same_run.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest {

/// A file that holds a whole trace, of one rank or several, on the recording's clock by the trace's origin.
struct TraceFile {
  std::filesystem::path file;
  trace::Trace trace;
  std::vector<RankFacts> ranks;  ///< what each of the trace's ranks says of its run
  Diagnostics diagnostics;       ///< what the file says of its making, and what is wrong with it
};

}  // namespace interlace::ingest
