#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/base/units.hpp"
#include "simulator/contention/kernel_shape.hpp"
#include "simulator/contention/slowdown.hpp"

namespace interlace::contention {

/// One piece of work as it runs on a GPU. `remaining_ns` counts in time alone; cohort kernels are counted in blocks.
struct ActiveWork {
  enum class Kind : std::uint8_t { kKernel, kCollective, kCopy };
  Kind kind = Kind::kKernel;
  KernelShape shape;                  ///< kernels only
  std::int32_t ctas = 0;              ///< collectives only
  LostToMemory lost;                  ///< collectives only: to kernels beside it
  double lost_part = 1.0;             ///< collectives only: of what those of their kind lose to others
  std::optional<double> lost_beside;  ///< kernels only: part of its pace that a collective loses beside it; none: usual
  double started_ns = 0;              ///< collectives only
  bool moving = false;                ///< collectives only: all ranks are there
  bool on_device = false;             ///< copies only: from device memory to device memory
  double resident_ctas = 0;           ///< collectives only: those that hold an SM, from start to end, waiting included
  bool lacks_room = false;            ///< collectives only: for CTAs that are still to be placed there is no SM
  std::int32_t priority = 0;          ///< of its stream; lower is more urgent
  Sensitivity sensitivity = kStreamingSensitivity;  ///< to collectives beside it; kernels not bound by compute
  double alone_ns = 0;
  double remaining_ns = 0;
  double rate = 0;  ///< of progress, in time alone a nanosecond; 0 where it waits

  /// Kernels of few waves run as cohorts of blocks that started together; all of them progress at `rate`.
  struct Cohort {
    double remaining_ns;
    std::int64_t blocks;
    std::int32_t sms;  ///< over which they are spread
  };
  bool in_cohorts = false;
  std::int64_t pending_blocks = 0;
  std::optional<double> block_ns;  ///< time of the mean block by itself; reckoned where it is not given
  std::vector<Cohort> cohorts;

  /// Have all its blocks found an SM?
  [[nodiscard]] bool dispatched() const;
  /// Time alone that must still pass until then; 0 where they have. Only for kernels that are not in cohorts.
  [[nodiscard]] double until_dispatched_ns() const;
  /// Time alone that must still pass until its last blocks leave CTAs another sixteenth of its SMs, or until it ends.
  [[nodiscard]] double until_emptier_ns() const;
  /// SMs that its blocks fill, as densely as they fit.
  [[nodiscard]] double sms_used() const;
  /// SMs on which at least one of its blocks runs.
  [[nodiscard]] double sms_touched() const;
  [[nodiscard]] std::int64_t blocks_in_flight() const;
};

/// Does the kernel run as cohorts? Those of at most eight waves do, unless they stream memory: their time depends on
/// how many SMs each wave finds.
[[nodiscard]] bool runs_in_cohorts(const KernelShape& shape);

/// Paces of an urgent kernel and of the one of a less urgent stream that it runs beside, over those by themselves.
struct Shares {
  double urgent;
  double other;
};

/// By what the other kernel is, which is not in cohorts: measured time of side-stream kernels beside one main kernel
/// (docs/contention.md).
[[nodiscard]] Shares shares_beside(const KernelShape& other);

/// May a work of this description start beside those that run? The hardware dispatches blocks of a kernel only after
/// all blocks of the kernels before it at the same priority ("leftover" policy); a more urgent stream enters as soon
/// as blocks retire. One that could use more shared memory than a kernel whose blocks fill the SMs waits until one is
/// empty (share_an_sm). A collective needs room for one of its clusters at least.
[[nodiscard]] bool admits(std::span<ActiveWork* const> running, const ActiveWork& candidate, std::int32_t sm_count);

/// Gives a collective's CTAs the SMs there are now; those that have one keep it. Where the rest lacks room, progress
/// goes with resident_ctas / ctas: it takes its turn when the first have done their channels' share. Where it is only
/// on its way nothing is lost, for the time by itself has that in it.
///
/// CTAs come in clusters, which take kClusterLaunchNs each to place: a kernel that becomes ready just behind the
/// collective takes the SMs that are not taken by then (n6: a matrix multiplication that began 2 us after a collective
/// lost 30-110 us to it, one that found it in place lost all its SMs). And the CTAs of a cluster must lie in one GPC,
/// so of few SMs that are free here and there most are of no use: with `free` SMs spread at random over eight GPCs,
/// those that serve are 8 * E[4 * floor(X / 4)], X ~ Poisson(free / 8). Returns true where more could be placed in
/// kClusterLaunchNs from now.
bool settle_ctas(ActiveWork& collective, std::span<ActiveWork* const> running, std::int32_t sm_count, double now_ns);
inline constexpr double kClusterLaunchNs = 1'000.0;

/// Does it change something for others on a GPU when the last blocks of a kernel are dispatched and leave SMs? So it
/// does for a collective of which CTAs wait for an SM, for later kernels whose blocks do, and between kernels of
/// different priorities.
[[nodiscard]] bool last_blocks_matter(std::span<ActiveWork* const> running);

/// Do rates, or what may start, also depend on how far works are between these changes? So it is where blocks leave SMs
/// for which CTAs of a collective wait, and where kernels share SMs of which one has its last blocks there.
[[nodiscard]] bool drifts(std::span<ActiveWork* const> running);

/// Sets the rates of everything that runs on one GPU, except collectives (their rate depends on all ranks).
void share(std::span<ActiveWork* const> running, std::int32_t sm_count);

/// The pace that the kernels beside a collective leave it on this GPU, as a part of that by itself.
[[nodiscard]] double pace_beside_kernels(const ActiveWork& collective, std::span<ActiveWork* const> running);

/// Gives pending blocks of cohort kernels the room there is now. Returns true where anything changed.
bool dispatch_cohorts(ActiveWork& work, std::span<ActiveWork* const> running, std::int32_t sm_count);

}  // namespace interlace::contention
