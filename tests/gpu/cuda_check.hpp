#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// Ends the program where a CUDA call fails: nothing measured after it would mean anything.
inline void check(cudaError_t status, const char* what, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(status));
  std::_Exit(3);
}
#define CHECK(call) check(call, #call, __LINE__)
