#pragma once

#include "simulator/ingest/nsys/database.hpp"
#include "simulator/ingest/nsys/placement.hpp"

namespace interlace::ingest::nsys {

/// Adds ranges and marks of NVTX, and what the profiler says that it took of the host's time. Throws nsys.damaged,
/// nsys.unknown_schema.
void add_ranges(const Database& database, Placement& placement);

}  // namespace interlace::ingest::nsys
