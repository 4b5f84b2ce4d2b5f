#pragma once

#include <memory>

#include "engine/embedding/kernels.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kNoFbgemm{"engine.no_fbgemm"};

/// Kernels that look tables up and update them with FBGEMM's operators, as TorchRec does, and do all else as `own`
/// does, which must outlive them. The operators come from the package fbgemm-gpu (or fbgemm-gpu-cpu) of the version
/// that fits LibTorch: from the folder fbgemm_gpu beside torch, or that which INTERLACE_FBGEMM_DIR names. They are
/// called through LibTorch's dispatcher, and need no Python.
///
/// What differs from the engine's own kernels: the operators want the ids by table, where the engine has them by rank
/// and table, and make memory of their own for what they give; so each lookup permutes ids and copies its result.
/// Updates are sums in another order.
///
/// What it must know of tables it learns from the host at their first lookup: they may neither move nor go as long as
/// it lives.
///
/// on_gpu: whether the memory is a GPU's. There columns must come in fours.
/// Throws engine.no_fbgemm where the package is not there, or lacks an operator.
[[nodiscard]] std::unique_ptr<EmbeddingKernels> make_fbgemm_kernels(const EmbeddingKernels& own, bool on_gpu);

}  // namespace interlace::engine
