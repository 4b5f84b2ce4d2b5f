#pragma once

#include <cuda_runtime.h>

namespace interlace::engine::cuda {

// One load's worth of columns: four floats where all columns come in fours, else one.

template <class Vector>
inline constexpr int kWidth = static_cast<int>(sizeof(Vector) / sizeof(float));

__device__ inline void set_zero(float& v) { v = 0.0F; }
__device__ inline void set_zero(float4& v) { v = make_float4(0.0F, 0.0F, 0.0F, 0.0F); }

__device__ inline void add(float& sum, float v) { sum += v; }
__device__ inline void add(float4& sum, const float4& v) {
  sum.x += v.x;
  sum.y += v.y;
  sum.z += v.z;
  sum.w += v.w;
}

/// sum += factor * v.
__device__ inline void add_scaled(float& sum, float factor, float v) { sum = fmaf(factor, v, sum); }
__device__ inline void add_scaled(float4& sum, float factor, const float4& v) {
  sum.x = fmaf(factor, v.x, sum.x);
  sum.y = fmaf(factor, v.y, sum.y);
  sum.z = fmaf(factor, v.z, sum.z);
  sum.w = fmaf(factor, v.w, sum.w);
}

__device__ inline float product(float a, float b) { return a * b; }
__device__ inline float product(const float4& a, const float4& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ inline float sum_of_squares(float v) { return v * v; }
__device__ inline float sum_of_squares(const float4& v) { return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }

/// sum += v, where `lost` keeps what rounding took (Kahan).
__device__ inline void add_compensated(float& sum, float& lost, float v) {
  const float wanted = __fsub_rn(v, lost);
  const float next = __fadd_rn(sum, wanted);
  lost = __fsub_rn(__fsub_rn(next, sum), wanted);
  sum = next;
}
__device__ inline void add_compensated(float4& sum, float4& lost, const float4& v) {
  add_compensated(sum.x, lost.x, v.x);
  add_compensated(sum.y, lost.y, v.y);
  add_compensated(sum.z, lost.z, v.z);
  add_compensated(sum.w, lost.w, v.w);
}

__device__ inline float scaled(float factor, float v) { return factor * v; }
__device__ inline float4 scaled(float factor, const float4& v) {
  return make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
}

}  // namespace interlace::engine::cuda
