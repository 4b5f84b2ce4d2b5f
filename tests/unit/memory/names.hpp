#pragma once

#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/segment.hpp"

/// Names of other parts that tests of memory are full of.
namespace interlace::memory {

using schedule::Stage;
using stages::ModuleId;
using stages::Piece;
using stages::SegmentKey;

inline constexpr ModuleId kModule{0};
inline const SegmentKey kCopy{Stage::kCopyBatchToGpu, Piece::kWhole, {}};
inline const SegmentKey kTensors{Stage::kInputDistWait, Piece::kTensors, kModule};
inline const SegmentKey kFinish{Stage::kInputDistFinish, Piece::kWhole, kModule};
inline const SegmentKey kLookup{Stage::kEmbeddingLookup, Piece::kWhole, kModule};
inline const SegmentKey kScatter{Stage::kOutputDistStart, Piece::kWhole, kModule};
inline const SegmentKey kPooled{Stage::kOutputDistWait, Piece::kWhole, kModule};
inline const SegmentKey kForward{Stage::kDenseForward, Piece::kWhole, {}};
inline const SegmentKey kDense{Stage::kBackward, Piece::kDense, {}};
inline const SegmentKey kGradDist{Stage::kBackward, Piece::kGradDist, kModule};
inline const SegmentKey kUpdate{Stage::kBackward, Piece::kUpdate, kModule};

}  // namespace interlace::memory
