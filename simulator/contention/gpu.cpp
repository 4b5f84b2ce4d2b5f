#include "simulator/contention/gpu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "simulator/contention/slowdown.hpp"

namespace interlace::contention {

namespace {

constexpr double kEpsilon = 1e-6;
constexpr double kFewWaves = 8.0;

constexpr int kClusterCtas = 4;
constexpr int kGpcs = 8;
/// Fewer free SMs than this never had a GPC with room for a cluster: a collective of four CTAs did not start beside a
/// kernel on 128 of 132 SMs (t7, t9), one of 32 did beside 124 (c6).
constexpr double kLeastFreeSms = 8.0;

/// Time alone of a round of a kernel's blocks.
double round_ns(const ActiveWork& w) { return w.alone_ns / w.shape.waves(); }

/// Of a kernel that is not in cohorts, the part of its last round of blocks that has not retired: 1 until that begins.
double left_of_last_round(const ActiveWork& w) { return std::clamp(w.remaining_ns / round_ns(w), 0.0, 1.0); }

bool lacks_ctas(const ActiveWork& w) { return w.kind == ActiveWork::Kind::kCollective && w.resident_ctas < w.ctas; }

/// Does it leave SMs to others before it ends? Blocks of a single round end together, those of cohorts are counted.
bool empties_sms(const ActiveWork& w) {
  return w.kind == ActiveWork::Kind::kKernel && !w.in_cohorts && w.shape.waves() > 1.0;
}

/// SMs that a kernel's blocks keep from a collective's CTAs, which need nearly a whole SM each. In its last round
/// blocks end at any time, and an SM is free once the last of those on it has.
double sms_kept(const ActiveWork& w) {
  if (w.kind != ActiveWork::Kind::kKernel) return w.resident_ctas;
  if (!empties_sms(w)) return w.sms_touched();
  return w.sms_touched() * (1.0 - std::pow(1.0 - left_of_last_round(w), w.shape.blocks_per_sm));
}

/// What is left of a last round of blocks when another sixteenth of its SMs is free, with so many blocks on each.
std::span<const double> left_at_sixteenths(std::int32_t blocks_per_sm) {
  constexpr std::size_t kSteps = 16;
  constexpr std::size_t kMostBlocks = 32;  // that an SM of any GPU holds
  using Steps = std::array<double, kSteps - 1>;
  static const std::array<Steps, kMostBlocks> kKnown = [] {
    std::array<Steps, kMostBlocks> steps{};
    for (std::size_t b = 0; b < kMostBlocks; ++b) {
      for (std::size_t s = 0; s < steps[b].size(); ++s) {
        const double free = static_cast<double>(s + 1) / kSteps;
        steps[b][s] = 1.0 - std::pow(free, 1.0 / static_cast<double>(b + 1));
      }
    }
    return steps;
  }();
  return kKnown[static_cast<std::size_t>(std::clamp(blocks_per_sm, 1, std::int32_t{kMostBlocks}) - 1)];
}

double free_sms(std::span<ActiveWork* const> running, const ActiveWork& candidate, std::int32_t sm_count) {
  double free = sm_count;
  for (const ActiveWork* w : running) {
    if (w != &candidate) free -= sms_kept(*w);
  }
  return std::max(0.0, free);
}

/// 8 * E[4 * floor(X / 4)] for X ~ Poisson(free / 8).
double expected_in_clusters(double free) {
  const double mean = free / kGpcs;
  double probability = std::exp(-mean);
  double sum = 0;
  for (int x = 0; x <= 64; ++x) {
    const int in_clusters = x - x % kClusterCtas;
    sum += probability * in_clusters;
    probability *= mean / (x + 1);
  }
  return kGpcs * sum;
}

/// The same, known for whole SMs: those are free but where a kernel's last blocks retire.
double sms_fit_for_clusters(double free) {
  constexpr std::size_t kMostSms = 256;  // of any GPU
  static const std::array<double, kMostSms> kKnown = [] {
    std::array<double, kMostSms> fit{};
    for (std::size_t sms = 0; sms < kMostSms; ++sms) fit[sms] = expected_in_clusters(static_cast<double>(sms));
    return fit;
  }();
  const auto whole = static_cast<std::size_t>(free);
  return whole < kMostSms && static_cast<double>(whole) == free ? kKnown[whole] : expected_in_clusters(free);
}

CtasBeside ctas_beside(std::span<ActiveWork* const> running) {
  CtasBeside beside;
  for (const ActiveWork* w : running) {
    if (w->kind == ActiveWork::Kind::kCollective) (w->moving ? beside.moving : beside.waiting) += w->resident_ctas;
  }
  return beside;
}

double held_by_collectives(std::span<ActiveWork* const> running) { return ctas_beside(running).all(); }

/// The least part of its pace that a work keeps, however few SMs others leave it.
constexpr double kLeastShare = 0.03;

/// Copies within device memory and kernels that use up its bandwidth get half of it each: 157 MB took 205 us beside
/// `list_uses`, else 109, and that kernel lost 0.54 of its pace (docs/contention.md).
constexpr double kHalfOfMemory = 0.5;
/// Such a copy runs on SMs, as kernels do. This part of them is enough for its pace by itself: 65 MB took 450 us on the
/// four SMs that a matrix multiplication left, else 48.
constexpr double kEnoughSmsForCopy = 0.25;
/// A shorter one finds what it needs.
constexpr double kBriefCopyNs = 5'000.0;

bool uses_up_memory(const ActiveWork& w) {
  if (w.kind == ActiveWork::Kind::kCopy) return w.on_device && w.alone_ns > kStreamsMemoryNs;
  return w.kind == ActiveWork::Kind::kKernel && contention::uses_up_memory(w.shape.bound, w.alone_ns);
}

/// SMs that device copies more urgent than a kernel take from its blocks as these retire: all copies the same, and only
/// from blocks that hold copies up.
double sms_of_urgent_copies(const ActiveWork& kernel, std::span<ActiveWork* const> running, std::int32_t sm_count) {
  const auto is_urgent = [&](const ActiveWork* w) {
    return w->kind == ActiveWork::Kind::kCopy && w->on_device && w->alone_ns >= kBriefCopyNs &&
           w->priority < kernel.priority;
  };
  if (kernel.shape.bound != Bound::kCompute || std::ranges::none_of(running, is_urgent)) return 0;
  return kEnoughSmsForCopy * sm_count;
}

double pace_of_device_copy(const ActiveWork& copy, std::span<ActiveWork* const> running, std::int32_t sm_count) {
  if (copy.alone_ns < kBriefCopyNs) return 1.0;
  double free = sm_count - held_by_collectives(running);
  bool shares_memory = false;
  for (const ActiveWork* w : running) {
    if (w->kind != ActiveWork::Kind::kKernel) continue;
    shares_memory = shares_memory || uses_up_memory(*w);
    if (w->in_cohorts && w->shape.bound == Bound::kCompute) free -= w->sms_used();
  }
  const double on_these_sms = std::clamp(free / (kEnoughSmsForCopy * sm_count), kLeastShare, 1.0);
  return shares_memory ? std::min(kHalfOfMemory, on_these_sms) : on_these_sms;
}

/// Part of its pace that a kernel has on the SMs that others leave it. Blocks keep their SMs until they retire: those
/// of kernels of few rounds that were there first, and where it is urgent also of those that came later, and the last
/// ones of kernels that were there first and are no more urgent. Until a round of the former ends there may be nothing.
/// `running` is in the order in which they started.
double share_of_leftovers(const ActiveWork& kernel, bool is_urgent, std::span<ActiveWork* const> running,
                          std::int32_t sm_count) {
  double free = sm_count;
  bool was_first = true;
  double least = kLeastShare;
  for (const ActiveWork* w : running) {
    if (w == &kernel) was_first = false;
    if (w == &kernel || w->kind != ActiveWork::Kind::kKernel) continue;
    if (w->in_cohorts && (was_first || is_urgent)) {
      free -= w->sms_used();
      least = 0.0;
    }
    if (!w->in_cohorts && was_first && w->priority >= kernel.priority) free -= w->sms_used() * left_of_last_round(*w);
  }
  return std::clamp(free / kernel.sms_used(), least, 1.0);
}

/// SMs that a kernel which is not in cohorts keeps from blocks of others that would start, being more urgent or in its
/// last round of blocks, where they are fewer and fewer.
double sms_claimed(const ActiveWork& kernel) {
  return kernel.shape.waves() <= 1.0 ? kernel.sms_used() : kernel.sms_used() * left_of_last_round(kernel);
}

}  // namespace

Shares shares_beside(const KernelShape& other) {
  const double waves = other.waves();
  if (waves <= 1.0) return {1.0, 1.0};  // has no blocks to put off
  if (waves <= 30.0 && other.bound != Bound::kCompute) return {0.8, 0.2};
  return {0.95, 0.1};
}

bool runs_in_cohorts(const KernelShape& shape) {
  return shape.bound != Bound::kStreaming && shape.waves() <= kFewWaves;
}

bool ActiveWork::dispatched() const {
  if (kind != Kind::kKernel) return true;
  if (in_cohorts) return pending_blocks == 0;
  return until_dispatched_ns() <= kEpsilon;
}

double ActiveWork::until_dispatched_ns() const {
  if (kind != Kind::kKernel || shape.waves() <= 1.0) return 0.0;
  return std::max(0.0, remaining_ns - round_ns(*this));
}

double ActiveWork::until_emptier_ns() const {
  if (!empties_sms(*this)) return remaining_ns;
  for (const double left : left_at_sixteenths(shape.blocks_per_sm)) {
    const double left_ns = left * round_ns(*this);
    if (remaining_ns > left_ns + kEpsilon) return remaining_ns - left_ns;
  }
  return remaining_ns;
}

std::int64_t ActiveWork::blocks_in_flight() const {
  std::int64_t blocks = 0;
  for (const Cohort& c : cohorts) blocks += c.blocks;
  return blocks;
}

double ActiveWork::sms_used() const {
  if (kind != Kind::kKernel) return 0.0;
  const double sms = shape.sm_count;
  if (in_cohorts) {
    return std::min(sms, std::ceil(static_cast<double>(blocks_in_flight()) / shape.blocks_per_sm));
  }
  return std::min(sms, std::ceil(static_cast<double>(shape.blocks) / shape.blocks_per_sm));
}

double ActiveWork::sms_touched() const {
  if (kind != Kind::kKernel) return 0.0;
  const double sms = shape.sm_count;
  if (!in_cohorts) return std::min(sms, static_cast<double>(shape.blocks));
  return std::accumulate(cohorts.begin(), cohorts.end(), 0.0,
                         [&](double sum, const Cohort& c) { return std::min(sms, sum + c.sms); });
}

bool admits(std::span<ActiveWork* const> running, const ActiveWork& candidate, std::int32_t sm_count) {
  if (candidate.kind == ActiveWork::Kind::kCopy) return true;
  for (const ActiveWork* w : running) {
    if (w->kind != ActiveWork::Kind::kKernel) continue;
    if (!w->dispatched()) {
      if (w->priority <= candidate.priority) return false;
      continue;
    }
    const bool fills_sms = sms_kept(*w) > sm_count - 1.0;
    if (candidate.kind == ActiveWork::Kind::kKernel && fills_sms && !share_an_sm(w->shape, candidate.shape)) {
      return false;
    }
  }
  return candidate.kind != ActiveWork::Kind::kCollective || candidate.ctas <= 1 ||
         free_sms(running, candidate, sm_count) >= std::min<double>(kLeastFreeSms, sm_count);
}

bool settle_ctas(ActiveWork& collective, std::span<ActiveWork* const> running, std::int32_t sm_count, double now_ns) {
  if (!lacks_ctas(collective)) return false;
  const double free = free_sms(running, collective, sm_count);
  const double fit = free >= sm_count ? collective.ctas : sms_fit_for_clusters(free);
  const double launched =
      kClusterCtas * (1.0 + std::floor((now_ns - collective.started_ns) / kClusterLaunchNs + kEpsilon));
  const double most = std::min<double>(collective.ctas, std::max<double>(fit, std::min(collective.ctas, kClusterCtas)));
  collective.resident_ctas = std::max(collective.resident_ctas, std::min(most, launched));
  collective.lacks_room = most < collective.ctas;
  return most > launched;
}

bool last_blocks_matter(std::span<ActiveWork* const> running) {
  const ActiveWork* kernel = nullptr;
  for (const ActiveWork* w : running) {
    if (lacks_ctas(*w)) return true;
    if (w->kind != ActiveWork::Kind::kKernel) continue;
    // Later ones wait for the SMs that earlier ones leave.
    if (kernel != nullptr && (kernel->priority != w->priority || w->pending_blocks > 0)) return true;
    kernel = w;
  }
  return false;
}

bool drifts(std::span<ActiveWork* const> running) {
  int kernels = 0;
  bool all_in_cohorts = true;
  for (const ActiveWork* w : running) {
    if (lacks_ctas(*w)) return true;
    if (w->kind != ActiveWork::Kind::kKernel) continue;
    ++kernels;
    all_in_cohorts = all_in_cohorts && w->in_cohorts;
  }
  return kernels > 1 && !all_in_cohorts;
}

void share(std::span<ActiveWork* const> running, std::int32_t sm_count) {
  const CtasBeside collectives = ctas_beside(running);
  const bool beside_copy = std::ranges::any_of(
      running, [](const ActiveWork* w) { return w->kind == ActiveWork::Kind::kCopy && uses_up_memory(*w); });
  std::int32_t most_urgent = 0;
  int urgent_kernels = 0;
  const ActiveWork* beside = nullptr;
  for (const ActiveWork* w : running) {
    if (w->kind == ActiveWork::Kind::kKernel) most_urgent = std::min(most_urgent, w->priority);
  }
  for (const ActiveWork* w : running) {
    if (w->kind != ActiveWork::Kind::kKernel) continue;
    if (most_urgent < 0 && w->priority == most_urgent) {
      ++urgent_kernels;
    } else if (beside == nullptr) {
      beside = w;
    }
  }
  if (beside == nullptr) urgent_kernels = 0;  // equals among themselves share as others do
  const Shares shares = urgent_kernels > 0 ? shares_beside(beside->shape) : Shares{1.0, 1.0};
  for (ActiveWork* w : running) {
    if (w->kind == ActiveWork::Kind::kCopy) w->rate = w->on_device ? pace_of_device_copy(*w, running, sm_count) : 1.0;
    if (w->in_cohorts) {
      w->rate = w->block_ns ? w->shape.pace(w->blocks_in_flight(), *w->block_ns, collectives.all()) : 1.0;
    }
    if (w->kind != ActiveWork::Kind::kKernel || w->in_cohorts) continue;
    const bool urgent = urgent_kernels > 0 && w->priority == most_urgent;
    const double company = slowdown(w->shape, w->sensitivity, collectives);
    // Blocks that run keep their SMs: a kernel's last ones go on as before, whoever comes.
    const bool keeps_sms = !urgent && w->dispatched();
    const bool on_leftovers =
        urgent_kernels == 0 || keeps_sms || (urgent && (beside->in_cohorts || beside->dispatched()));
    const double whole = on_leftovers ? share_of_leftovers(*w, urgent, running, sm_count)
                         : urgent     ? shares.urgent
                                      : shares.other;
    const double share = urgent ? whole / urgent_kernels : whole;
    w->rate = share / company * (beside_copy && uses_up_memory(*w) ? kHalfOfMemory : 1.0);
  }
}

double pace_beside_kernels(const ActiveWork& collective, std::span<ActiveWork* const> running) {
  double lost = 0;
  for (const ActiveWork* w : running) {
    if (w->kind == ActiveWork::Kind::kKernel) {
      lost = std::max(lost, w->lost_beside.value_or(lost_beside(collective.lost, w->shape.bound, w->alone_ns)));
    }
  }
  return 1.0 - lost * collective.lost_part;
}

bool dispatch_cohorts(ActiveWork& work, std::span<ActiveWork* const> running, std::int32_t sm_count) {
  bool changed =
      std::erase_if(work.cohorts, [](const ActiveWork::Cohort& c) { return c.remaining_ns <= kEpsilon; }) > 0;
  if (work.pending_blocks == 0) return changed;
  const double held = held_by_collectives(running);
  double sms = sm_count - held - work.shape.lost_beside(held) - sms_of_urgent_copies(work, running, sm_count);
  const std::int64_t in_flight = work.blocks_in_flight();
  bool was_first = true;
  for (const ActiveWork* w : running) {
    if (w == &work) was_first = false;
    if (w == &work || w->kind != ActiveWork::Kind::kKernel) continue;
    if (w->in_cohorts) {
      sms -= w->sms_used();
    } else if (w->priority < work.priority || (was_first && w->dispatched())) {
      sms -= sms_claimed(*w);
    }
  }
  // Blocks leave SMs a sixteenth at a time: what is whole but for rounding counts as whole.
  const auto sms_left = static_cast<std::int32_t>(std::max(0.0, sms + kEpsilon));
  const std::int64_t room = std::int64_t{sms_left} * work.shape.blocks_per_sm - in_flight;
  const std::int64_t start = std::min(work.pending_blocks, room);
  if (start <= 0) return changed;
  if (!work.block_ns) work.block_ns = block_time(work.shape, work.alone_ns);
  const bool on_idle_sms = work.pending_blocks == work.shape.blocks;
  const std::int32_t free_sms = sms_left - static_cast<std::int32_t>(work.sms_used());
  const std::int32_t over = work.shape.spread_over(start, free_sms, on_idle_sms);
  const double round_ns = *work.block_ns * work.shape.crowding(start, over);
  work.shape.each_part_of_round(start, [&](std::int64_t blocks, double time) {
    const std::int64_t sms_of_part = std::max<std::int64_t>(1, over * blocks / start);
    work.cohorts.push_back({round_ns * time, blocks, static_cast<std::int32_t>(sms_of_part)});
  });
  work.pending_blocks -= start;
  return true;
}

}  // namespace interlace::contention
