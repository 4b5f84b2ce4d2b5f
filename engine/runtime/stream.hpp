#pragma once

#include <functional>

#include "simulator/base/id.hpp"

namespace interlace::engine {

/// One of a device's queues of work: a CUDA stream, or a queue of the CPU backend.
using StreamId = Id<struct EngineStreamTag>;

/// What a kernel is launched on: a cudaStream_t; null on the CPU, where work runs as it is called.
using NativeStream = void*;

/// Work of a stream. On a GPU it is called at once, to launch kernels; on the CPU it is the work itself and runs when
/// its turn comes. It may hold raw memory, but no Buffer: that would keep memory alive as no GPU does.
using Work = std::function<void(NativeStream)>;

}  // namespace interlace::engine
