#pragma once

#include <cstdint>

#include "simulator/contention/kernel_shape.hpp"

namespace interlace::contention {

/// How much longer a memory-bound kernel takes while collectives hold `ctas` SMs: they take SMs and memory bandwidth in
/// proportion to the channels they run. 1 + 0.22 * ctas / 32, from elementwise, concatenation, permutation and
/// normalisation kernels of four H200 jobs (typically 1.2 under 32 CTAs over NVLink, 1.03 under 4 CTAs through host
/// memory; docs/contention.md).
[[nodiscard]] double memory_slowdown(std::int32_t ctas);

/// How much longer a compute-bound kernel takes on the SMs that collectives with `ctas` leave: the ratio of its rounds
/// of blocks. Exact for equal blocks; measured 1.98-2.03 where 2 was expected and 1.47-1.50 for 1.5.
[[nodiscard]] double compute_slowdown(const KernelShape& shape, std::int32_t ctas);

[[nodiscard]] double slowdown(const KernelShape& shape, std::int32_t ctas);

/// Time of a kernel freed of collectives' company: it took `measured` ns, `covered` ns of them beside collectives that
/// held `ctas` SMs.
[[nodiscard]] double freed_of_collectives(const KernelShape& shape, double measured, double covered, std::int32_t ctas);

}  // namespace interlace::contention
