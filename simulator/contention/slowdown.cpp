#include "simulator/contention/slowdown.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "simulator/contention/gpu.hpp"

namespace interlace::contention {

namespace {

constexpr double kDone = 1e-6;  // part of a block that is left when it counts as done

}  // namespace

Sensitivity usual_sensitivity(Bound bound) {
  return bound == Bound::kGather ? kGatherSensitivity : kStreamingSensitivity;
}

bool uses_up_memory(Bound bound, double kernel_ns) {
  return bound == Bound::kGather || (bound == Bound::kStreaming && kernel_ns > kStreamsMemoryNs);
}

double lost_beside(const LostToMemory& lost, Bound bound, double kernel_ns) {
  if (!uses_up_memory(bound, kernel_ns)) return 0.0;
  return bound == Bound::kGather ? lost.gather : lost.streaming;
}

double memory_slowdown(const Sensitivity& sensitivity, const CtasBeside& beside) {
  if (beside.all() <= 1.0) return 1.0;
  const double counted = std::min(1.0, kMostCtas / beside.all());
  return 1.0 + counted * (sensitivity.waiting * beside.waiting + sensitivity.moving * beside.moving) / kReferenceCtas;
}

double compute_slowdown(const KernelShape& shape, std::int32_t ctas) {
  const auto alone = static_cast<double>(shape.waves_on(shape.sm_count));
  const auto lost = ctas + static_cast<std::int32_t>(shape.lost_beside(ctas));
  const auto shared = static_cast<double>(shape.waves_on(shape.sm_count - lost));
  return shared / alone;
}

double slowdown(const KernelShape& shape, const Sensitivity& sensitivity, const CtasBeside& beside) {
  if (shape.bound != Bound::kCompute) return memory_slowdown(sensitivity, beside);
  return compute_slowdown(shape, static_cast<std::int32_t>(std::lround(beside.all())));
}

double block_time(const KernelShape& shape, double alone_ns) {
  constexpr int kMostSteps = 50;
  if (alone_ns <= 0) return 0.0;
  // All of them take longer as one does, in proportion or, where late ones are quicker, by less.
  double block_ns = alone_ns / std::max(1.0, shape.waves());
  for (int i = 0; i < kMostSteps; ++i) {
    const double next = block_ns * alone_ns / cohort_time(shape, block_ns, {});
    const bool settled = std::abs(next - block_ns) < kDone * block_ns;
    block_ns = next;
    if (settled) break;
  }
  return block_ns;
}

double cohort_time(const KernelShape& shape, double block_ns, std::span<const HeldSms> held) {
  struct Cohort {
    double remaining;
    std::int64_t blocks;
  };
  std::vector<Cohort> running;
  std::int64_t pending = shape.blocks;
  std::int64_t in_flight = 0;
  double now = 0;
  while (pending > 0 || !running.empty()) {
    std::int32_t taken = 0;
    double next = std::numeric_limits<double>::infinity();
    for (const HeldSms& h : held) {
      if (h.begin_ns <= now && now < h.end_ns) {
        taken += h.ctas;
        next = std::min(next, h.end_ns);
      } else if (now < h.begin_ns) {
        next = std::min(next, h.begin_ns);
      }
    }
    const double ctas = taken;
    taken += static_cast<std::int32_t>(shape.lost_beside(taken));
    const std::int32_t sms = shape.sm_count - std::min(taken, shape.sm_count);
    const std::int64_t room = std::int64_t{sms} * shape.blocks_per_sm;
    const std::int64_t start = std::clamp<std::int64_t>(room - in_flight, 0, pending);
    if (start > 0) {
      const auto used = static_cast<std::int32_t>((in_flight + shape.blocks_per_sm - 1) / shape.blocks_per_sm);
      const std::int32_t over = shape.spread_over(start, sms - used, pending == shape.blocks);
      const double time = block_ns * shape.crowding(start, over);
      shape.each_part_of_round(start, [&](std::int64_t blocks, double of_mean) {
        running.push_back({time * of_mean, blocks});
      });
      in_flight += start;
      pending -= start;
    }
    const double pace = shape.pace(in_flight, block_ns, ctas);
    for (const Cohort& c : running) next = std::min(next, now + c.remaining / pace);
    // Times that are too large for a step of this size: the shortest ends at once.
    const bool stands = next <= now && !running.empty();
    const double least = stands ? std::ranges::min(running, {}, &Cohort::remaining).remaining : 0.0;
    for (Cohort& c : running) c.remaining -= stands ? least : (next - now) * pace;
    now = next;
    std::erase_if(running, [&](const Cohort& c) {
      if (c.remaining > kDone * block_ns) return false;
      in_flight -= c.blocks;
      return true;
    });
  }
  return now;
}

std::vector<Company> company_of(double measured_ns, std::span<const HeldSms> held) {
  struct Change {
    double at_ns;
    std::int64_t waiting;
    std::int64_t moving;
  };
  std::vector<Change> changes;
  for (const HeldSms& h : held) {
    const std::int64_t waiting = h.moving ? 0 : h.ctas;
    const std::int64_t moving = h.moving ? h.ctas : 0;
    changes.push_back({std::clamp(h.begin_ns, 0.0, measured_ns), waiting, moving});
    changes.push_back({std::clamp(h.end_ns, 0.0, measured_ns), -waiting, -moving});
  }
  std::ranges::sort(changes, {}, &Change::at_ns);
  std::vector<Company> company;
  std::int64_t waiting = 0;
  std::int64_t moving = 0;
  double since_ns = 0;
  for (const Change& change : changes) {
    if (change.at_ns > since_ns && waiting + moving > 0) {
      company.push_back({change.at_ns - since_ns, {static_cast<double>(waiting), static_cast<double>(moving)}});
    }
    since_ns = change.at_ns;
    waiting += change.waiting;
    moving += change.moving;
  }
  return company;
}

double freed_of_collectives(const KernelShape& shape, const Sensitivity& sensitivity, double measured_ns,
                            std::span<const HeldSms> held) {
  if (measured_ns <= 0 || held.empty()) return measured_ns;
  if (runs_in_cohorts(shape)) {
    // The time grows with that of a block: halve the interval until it fits the measured one.
    const double block_ns = block_time(shape, measured_ns);
    double low = block_ns / 4.0;
    double high = block_ns;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2.0;
      (cohort_time(shape, middle, held) > measured_ns ? high : low) = middle;
    }
    return cohort_time(shape, low, {});
  }
  double lost = 0;
  for (const Company& piece : company_of(measured_ns, held)) {
    lost += piece.length_ns * (1.0 - 1.0 / slowdown(shape, sensitivity, piece.ctas));
  }
  return measured_ns - lost;
}

double observed_sensitivity(double alone_ns, double measured_ns, double covered_ns, std::int32_t ctas) {
  const double done_while_covered = alone_ns - (measured_ns - covered_ns);
  if (done_while_covered <= 0 || ctas <= 1) return 0.0;
  return std::max(0.0, covered_ns / done_while_covered - 1.0) * kReferenceCtas / std::min<double>(ctas, kMostCtas);
}

}  // namespace interlace::contention
