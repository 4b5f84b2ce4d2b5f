#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace interlace::trace {

/// Whether a domain of NVTX is that of a library that marks its own work, which is not the program's division of it.
[[nodiscard]] constexpr bool is_library_domain(std::string_view name) {
  constexpr std::array<std::string_view, 12> kLibraries{"NCCL",     "CCCL",    "cuBLAS",   "cuBLASLt",
                                                        "cuDNN",    "cuFFT",   "cuSPARSE", "cuSOLVER",
                                                        "cuTENSOR", "NVSHMEM", "cuFile",   "UCX"};
  return std::ranges::find(kLibraries, name) != kLibraries.end();
}

}  // namespace interlace::trace
