#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/trace/trace.hpp"

namespace interlace::contention {

/// What a kernel is short of when it runs alone; decides how company slows it.
enum class Bound : std::uint8_t {
  kCompute,    ///< matrix multiplications: limited by the SMs they get, in whole rounds of blocks
  kStreaming,  ///< reads and writes memory in order: limited by memory bandwidth
  kGather,     ///< follows indices: limited by how many accesses its SMs keep in flight
};

/// CTAs of collectives that figures of what they cost kernels refer to, and beyond which they cost no more.
inline constexpr double kReferenceCtas = 32.0;
inline constexpr double kMostCtas = 48.0;

/// How a kernel fills a GPU.
struct KernelShape {
  Bound bound = Bound::kStreaming;
  std::int64_t blocks = 1;
  std::int32_t blocks_per_sm = 1;  ///< that fit on one SM together
  std::int32_t sm_count = 1;
  double shared_kib =
      0;  ///< shared memory of an SM for as many of its blocks as fit, the system's part of each with it

  /// Rounds of blocks on `sms` SMs, the last one counted whole. sms >= 1.
  [[nodiscard]] std::int64_t waves_on(std::int32_t sms) const;
  /// Rounds of blocks on the whole GPU, as a fraction.
  [[nodiscard]] double waves() const { return static_cast<double>(blocks) / static_cast<double>(slots()); }
  /// SMs over which `started` blocks are spread that start at once, where none of its blocks runs on `free_sms` SMs. On
  /// idle SMs they lie as thinly as possible. Those that follow retired blocks take the place of these: bound by
  /// compute as densely as they fit, since the blocks of an SM retire together, else as thinly.
  [[nodiscard]] std::int32_t spread_over(std::int64_t started, std::int32_t free_sms, bool on_idle_sms) const;
  /// How much longer a block takes on `sms` SMs with `started` others than in a kernel that has the GPU to itself:
  /// blocks on one SM share its pace where they are bound by compute.
  [[nodiscard]] double crowding(std::int64_t started, std::int32_t sms) const;
  /// Pace of its blocks while `running` of them run, beside `ctas` of collectives, over that with all slots taken and
  /// nothing beside them. Blocks that follow indices wait for memory, the less the fewer there are; others: 1.
  /// `block_ns`: what one takes with all slots taken.
  [[nodiscard]] double pace(std::int64_t running, double block_ns, double ctas) const;
  /// SMs that it loses besides those that collectives hold: a matrix multiplication of many rounds makes no full use of
  /// the rest (docs/contention.md).
  [[nodiscard]] double lost_beside(double held_sms) const;
  /// Blocks that run at once on the whole GPU.
  [[nodiscard]] std::int64_t slots() const { return std::int64_t{blocks_per_sm} * sm_count; }
  /// Calls part(blocks, time) for the blocks, of `started` that start together, that end together; time: over that of
  /// the mean one. Rounds of blocks that follow indices end a little at a time, those of others at once, and so does
  /// what starts in the place of a part.
  template <class Part>
  void each_part_of_round(std::int64_t started, const Part& part) const;
};

/// An SM divides its memory into cache and shared memory for the kernel that finds it empty, by what that could use,
/// and divides it anew only once it is empty again. A kernel that could use this much more than the first finds no room
/// there, whatever is free (docs/benchmarks/placement, 14).
inline constexpr double kMoreSharedKib = 40.0;
/// May blocks of `later` join those of `first` on an SM, as far as its shared memory goes?
[[nodiscard]] bool share_an_sm(const KernelShape& first, const KernelShape& later);

/// The first blocks of a round end this much before the mean one, the last as much behind it: 528 blocks of 0.9 ms that
/// follow indices ended 0.89 to 0.92 ms after they had begun (docs/benchmarks/placement).
inline constexpr double kRoundSpread = 0.015;
inline constexpr int kRoundParts = 8;

template <class Part>
void KernelShape::each_part_of_round(std::int64_t started, const Part& part) const {
  const bool spreads = bound == Bound::kGather && started >= kRoundParts && 2 * started >= slots();
  if (!spreads) {
    part(started, 1.0);
    return;
  }
  for (int i = 0; i < kRoundParts; ++i) {
    const std::int64_t together = started / (kRoundParts - i);
    part(together, 1.0 + kRoundSpread * (2.0 * i / (kRoundParts - 1) - 1.0));
    started -= together;
  }
}

/// Occupancy from registers, threads, shared memory and the block limit, by the rules of the CUDA occupancy calculator
/// (registers are given out to warps in units of 256; shared memory has 1 KiB of overhead a block). Device facts that
/// the recording lacks are taken from compute capability 9.0.
[[nodiscard]] KernelShape shape_of(const trace::KernelDetail& kernel, std::string_view name,
                                   const trace::Device* device);

/// By name: libraries of matrix multiplication (cuBLAS, CUTLASS, xmma) are bound by compute; lookups, their gradients
/// and the kernels that permute or check indices follow indices; all else streams.
[[nodiscard]] Bound bound_of(std::string_view kernel_name);

}  // namespace interlace::contention
