#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/contention/kernel_shape.hpp"

namespace interlace::contention {

/// The SMs that collectives held at some time, relative to the start of a kernel (negative: they were there before).
struct HeldSms {
  double begin_ns = 0;
  double end_ns = 0;
  std::int32_t ctas = 0;
  bool moving = true;  ///< data; else they wait for another rank
};

/// CTAs of collectives beside a kernel. Those that wait for other ranks look at a flag again and again and take SMs
/// only; those that move data take bandwidth of device memory besides.
struct CtasBeside {
  double waiting = 0;
  double moving = 0;
  [[nodiscard]] double all() const { return waiting + moving; }
};

/// Part of the time by itself that a kernel which is not bound by compute takes longer beside 32 such CTAs.
struct Sensitivity {
  double waiting = 0;
  double moving = 0;
};

/// Where nothing better is known: medians over 240 kernels of 26 jobs of the engine and of TorchRec, each seen by
/// itself and beside collectives that only waited or only moved data for most of its time (docs/contention.md).
inline constexpr Sensitivity kStreamingSensitivity{.waiting = 0.11, .moving = 0.27};
inline constexpr Sensitivity kGatherSensitivity{.waiting = 0.12, .moving = 0.45};
[[nodiscard]] Sensitivity usual_sensitivity(Bound bound);

/// Part of its progress that a collective through host memory loses while host copies run on any rank: each nanosecond
/// of copies cost it 0.33 to 0.38 (slopes over the schedules of n5 and t9, two and four ranks), and 0.28 to 0.52 in ten
/// exchanges of four jobs on two quiet H200s.
inline constexpr double kLostToHostCopies = 0.35;

/// Part of its progress that a collective loses beside a kernel that uses up the bandwidth of device memory: NCCL
/// copies to and from its buffers, which waits for memory too.
struct LostToMemory {
  double streaming = 0;  ///< beside a kernel that streams more than the L2 cache holds
  double gather = 0;     ///< beside one that follows indices
};

/// Time lost for each nanosecond beside such a kernel: slopes over the schedules of seven H200 jobs, by direct links
/// 0.26 to 0.46 and 0.07 to 0.18. The parts of a jagged exchange begin at any element, so that NCCL moves them word by
/// word, with more accesses under way: 0.61 to 0.83. Through host memory the path there is what limits a large
/// exchange, beside which the copies on the device have time to spare: about 0 and 0.1, jagged 0.44 to 0.73.
inline constexpr LostToMemory kLostDirect{0.35, 0.12};
inline constexpr LostToMemory kLostDirectJagged{0.75, 0.12};
inline constexpr LostToMemory kLostThroughHost{0.0, 0.1};
inline constexpr LostToMemory kLostThroughHostJagged{0.5, 0.1};

/// A streaming kernel that takes longer than this moves more than the L2 cache holds: 50 MB pass in about 12 us.
inline constexpr double kStreamsMemoryNs = 20'000;

/// Does a kernel use up the bandwidth of device memory, where it takes `kernel_ns`?
[[nodiscard]] bool uses_up_memory(Bound bound, double kernel_ns);

/// What a collective loses beside it.
[[nodiscard]] double lost_beside(const LostToMemory& lost, Bound bound, double kernel_ns);

/// How much longer a kernel that is not bound by compute takes beside these CTAs: 1 + sensitivity * CTAs / 32. A single
/// CTA moves too little to matter.
[[nodiscard]] double memory_slowdown(const Sensitivity& sensitivity, const CtasBeside& beside);

/// How much longer a compute-bound kernel of many rounds takes on the SMs that collectives leave: the ratio of its
/// rounds of blocks. Exact for equal blocks; measured 1.98-2.03 where 2 was expected and 1.47-1.50 for 1.5.
[[nodiscard]] double compute_slowdown(const KernelShape& shape, std::int32_t ctas);

[[nodiscard]] double slowdown(const KernelShape& shape, const Sensitivity& sensitivity, const CtasBeside& beside);

/// The time of a block of a kernel of few rounds that takes `alone_ns` with the GPU to itself.
[[nodiscard]] double block_time(const KernelShape& shape, double alone_ns);

/// The time that a kernel of few rounds of blocks takes if a block takes `block_ns` and collectives hold SMs as given.
[[nodiscard]] double cohort_time(const KernelShape& shape, double block_ns, std::span<const HeldSms> held);

/// A stretch of a kernel's time beside the same collectives.
struct Company {
  double length_ns = 0;
  CtasBeside ctas;  ///< of all of them together
};

/// The stretches of a kernel that took `measured_ns` with collectives beside it, in order.
[[nodiscard]] std::vector<Company> company_of(double measured_ns, std::span<const HeldSms> held);

/// Time of a kernel freed of collectives' company, from the time it took: the inverse of what the simulation does with
/// it (cohort_time for few rounds, else the slowdown over the covered part).
[[nodiscard]] double freed_of_collectives(const KernelShape& shape, const Sensitivity& sensitivity, double measured_ns,
                                          std::span<const HeldSms> held);

/// The sensitivity that two recordings of the same kernel show: `alone_ns` by itself, and `measured_ns` of which
/// `covered_ns` passed beside collectives of `ctas` SMs.
[[nodiscard]] double observed_sensitivity(double alone_ns, double measured_ns, double covered_ns, std::int32_t ctas);

}  // namespace interlace::contention
