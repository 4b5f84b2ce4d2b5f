#pragma once

#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/segment.hpp"

/// Names of other parts that tests of memory are full of.
namespace interlace::memory {

using schedule::Stage;
using stages::ModuleId;
using stages::Piece;
using stages::SegmentKey;

}  // namespace interlace::memory
