#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace interlace::calibrate {

/// Reads, writes or copies `bytes` (a multiple of 16) in order, with as many blocks as fit on the device.
void launch_read(const void* from, float* sum, std::size_t bytes, cudaStream_t stream);
void launch_write(void* to, std::size_t bytes, cudaStream_t stream);
void launch_copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream);
/// Reads rows of 512 bytes in a scattered order, as a table lookup does: `rows` of them out of `table_rows`.
void launch_gather(const void* table, float* sum, std::int64_t rows, std::int64_t table_rows, cudaStream_t stream);
/// Multiplies and adds in registers: `blocks` equal blocks of 256 threads, each of which does `rounds` * 64 steps. Two
/// blocks fill an SM, as those of a matrix multiplication do.
void launch_multiply(float* out, int blocks, int rounds, cudaStream_t stream);
void launch_nothing(cudaStream_t stream);
/// Writes 1 where the host sees it.
void launch_flag(volatile int* flag, cudaStream_t stream);
/// Runs for so long, then writes the device's clock (globaltimer, in ns): when it began and when it ended.
void launch_stamped(std::uint64_t* begin_and_end, std::uint64_t run_ns, cudaStream_t stream);

}  // namespace interlace::calibrate
