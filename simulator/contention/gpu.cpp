#include "simulator/contention/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "simulator/contention/slowdown.hpp"

namespace interlace::contention {

namespace {

constexpr double kEpsilon = 1e-6;
constexpr double kFewWaves = 8.0;

/// NCCL launches its kernels in clusters on compute capability 9.0; a cluster must find room within one group of SMs,
/// so a few free SMs scattered over the chip do not serve it. With this many to spare they always did.
constexpr double kClusterMargin = 8.0;

std::int32_t held_by_collectives(std::span<ActiveWork* const> running) {
  return std::accumulate(running.begin(), running.end(), 0, [](std::int32_t sum, const ActiveWork* w) {
    return sum + (w->kind == ActiveWork::Kind::kCollective ? w->ctas : 0);
  });
}

/// How an urgent kernel and the one it runs beside share the GPU: measured time of side-stream kernels beside one main
/// kernel, by what the main kernel is (docs/contention.md).
struct Shares {
  double urgent;
  double other;
};

Shares shares_beside(const ActiveWork& other, double urgent_waves, std::int32_t sm_count) {
  const double waves = other.shape.waves();
  if (waves <= 1.0) {
    // One round of blocks that all run already: the urgent kernel gets the SMs they left free.
    const double free = std::max(0.03, 1.0 - other.sms_used() / sm_count);
    return {std::min(1.0, free / std::max(urgent_waves, 0.01)), 1.0};
  }
  if (other.in_cohorts) return {0.25, 0.75};  // priority acts only when a block retires, and these live long
  if (waves <= 30.0 && other.shape.bound != Bound::kCompute) return {0.8, 0.2};
  return {0.95, 0.1};
}

}  // namespace

bool runs_in_cohorts(const KernelShape& shape) { return shape.bound == Bound::kCompute && shape.waves() <= kFewWaves; }

bool ActiveWork::dispatched() const {
  if (kind != Kind::kKernel) return true;
  if (in_cohorts) return pending_blocks == 0;
  return until_dispatched_ns() <= kEpsilon;
}

double ActiveWork::until_dispatched_ns() const {
  if (kind != Kind::kKernel || shape.waves() <= 1.0) return 0.0;
  return std::max(0.0, remaining_ns - alone_ns / shape.waves());
}

double ActiveWork::sms_used() const {
  if (kind != Kind::kKernel) return 0.0;
  const double sms = shape.sm_count;
  if (in_cohorts) {
    std::int64_t blocks = 0;
    for (const Cohort& c : cohorts) blocks += c.blocks;
    return std::min(sms, std::ceil(static_cast<double>(blocks) / shape.blocks_per_sm));
  }
  return std::min(sms, std::ceil(static_cast<double>(shape.blocks) / shape.blocks_per_sm));
}

bool admits(std::span<const ActiveWork* const> running, const ActiveWork& candidate, std::int32_t sm_count) {
  if (candidate.kind == ActiveWork::Kind::kCopy) return true;
  for (const ActiveWork* w : running) {
    if (w->kind != ActiveWork::Kind::kKernel || w->priority > candidate.priority) continue;
    if (!w->dispatched()) return false;
  }
  if (candidate.kind == ActiveWork::Kind::kCollective && candidate.ctas > 1) {
    double free = sm_count;
    for (const ActiveWork* w : running) {
      if (w->kind == ActiveWork::Kind::kKernel && w->shape.bound == Bound::kCompute) free -= w->sms_used();
    }
    return free >= candidate.ctas + kClusterMargin;
  }
  return true;
}

void share(std::span<ActiveWork* const> running, std::int32_t sm_count) {
  const std::int32_t ctas = held_by_collectives(running);
  std::int32_t most_urgent = 0;
  int urgent_kernels = 0;
  double urgent_waves = 0;
  const ActiveWork* beside = nullptr;
  for (const ActiveWork* w : running) {
    if (w->kind == ActiveWork::Kind::kKernel) most_urgent = std::min(most_urgent, w->priority);
  }
  for (const ActiveWork* w : running) {
    if (w->kind != ActiveWork::Kind::kKernel) continue;
    if (most_urgent < 0 && w->priority == most_urgent) {
      ++urgent_kernels;
      urgent_waves = std::max(urgent_waves, std::min(1.0, w->shape.waves()));
    } else if (beside == nullptr) {
      beside = w;
    }
  }
  const Shares shares =
      urgent_kernels > 0 && beside != nullptr ? shares_beside(*beside, urgent_waves, sm_count) : Shares{1.0, 1.0};
  for (ActiveWork* w : running) {
    if (w->kind == ActiveWork::Kind::kCopy) w->rate = 1.0;
    if (w->kind != ActiveWork::Kind::kKernel || w->in_cohorts) continue;
    const bool urgent = urgent_kernels > 0 && w->priority == most_urgent;
    const double company = slowdown(w->shape, w->sensitivity, ctas);
    w->rate = (urgent ? shares.urgent / urgent_kernels : shares.other) / company;
  }
}

bool dispatch_cohorts(ActiveWork& work, std::span<ActiveWork* const> running, std::int32_t sm_count, double now_ns) {
  bool changed =
      std::erase_if(work.cohorts, [&](const ActiveWork::Cohort& c) { return c.end_ns <= now_ns + kEpsilon; }) > 0;
  if (work.pending_blocks == 0) return changed;
  double sms = sm_count - held_by_collectives(running);
  std::int64_t in_flight = 0;
  for (const ActiveWork::Cohort& c : work.cohorts) in_flight += c.blocks;
  for (const ActiveWork* w : running) {
    if (w != &work && w->in_cohorts) sms -= w->sms_used();
  }
  const auto room = static_cast<std::int64_t>(std::max(0.0, sms)) * work.shape.blocks_per_sm - in_flight;
  const std::int64_t start = std::min(work.pending_blocks, room);
  if (start <= 0) return changed;
  const double block_ns = work.alone_ns / static_cast<double>(work.shape.waves_on(work.shape.sm_count));
  work.cohorts.push_back({now_ns + block_ns, start});
  work.pending_blocks -= start;
  return true;
}

}  // namespace interlace::contention
