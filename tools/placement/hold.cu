// The kernels of blocks.cuh that hold SMs, for multiplications.py:
//
//   nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -shared -Xcompiler -fPIC -o libhold.so hold.cu

#include "blocks.cuh"

// `stays` has room for `blocks` of Stay. Returns a cudaError_t.
extern "C" int hold(cudaStream_t stream, bool collective, int blocks, double ns, placement::Stay* stays) {
  return placement::launch(stream, collective ? placement::kNccl : placement::kDelay, blocks, ns, stays, nullptr);
}
