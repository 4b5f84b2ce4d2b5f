#pragma once

#include <string>

#include "simulator/ingest/pickle/tree.hpp"

namespace interlace::ingest::memory_snapshot {

/// The allocator's settings in the syntax of PYTORCH_CUDA_ALLOC_CONF, from what a snapshot calls allocator_settings:
/// the text that was set last, where there is one; else what the single fields say that is not PyTorch's default (a
/// program may set these without a text).
[[nodiscard]] std::string settings_text(const pickle::Value& allocator_settings);

}  // namespace interlace::ingest::memory_snapshot
