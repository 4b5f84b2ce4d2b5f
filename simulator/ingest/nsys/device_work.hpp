#pragma once

#include "simulator/ingest/nsys/database.hpp"
#include "simulator/ingest/nsys/placement.hpp"

namespace interlace::ingest::nsys {

/// Adds kernels, copies, memsets and CUDA graphs that were recorded as one. Throws nsys.damaged, nsys.unknown_schema.
void add_device_work(const Database& database, Placement& placement);

}  // namespace interlace::ingest::nsys
