#pragma once

#include "simulator/ingest/nsys/database.hpp"
#include "simulator/ingest/nsys/placement.hpp"

namespace interlace::ingest::nsys {

/// Adds host calls, with what they recorded, waited for and synchronised. Throws nsys.damaged, nsys.unknown_schema.
void add_calls(const Database& database, Placement& placement);

}  // namespace interlace::ingest::nsys
