#include "simulator/contention/kernel_shape.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace interlace::contention {

namespace {

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kRegisterUnit = 256;
constexpr std::int64_t kMaxBlocksPerSm = 32;
constexpr Bytes kSharedMemoryOverhead = 1024;

/// Of a block that follows indices, what it needs however few run (ns); the rest is due to others that use memory at
/// the same time. 326 row updates of 20 jobs that found a collective in place come out 5.3 % off with this and the
/// next, with no bias, where blocks on one SM were taken to share its pace 9.0 % (docs/contention.md).
constexpr double kOwnTimeOfBlock = 800'000.0;
/// Part of its time that such a block takes longer beside 32 CTAs of collectives.
constexpr double kLostBesideCtas = 0.1;

/// A matrix multiplication of many rounds takes as long beside one cluster of CTAs as if this held five SMs more (six
/// of nine kernels of five jobs, docs/contention.md).
constexpr double kManyRounds = 4.0;
constexpr double kCluster = 4.0;
constexpr double kIdleBesideCluster = 5.0;

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// A name as a word: not as the end of a longer one ("fbgemm" is no "gemm").
bool names_word(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const bool inside = word == "gemm" && at >= 2 && name.substr(at - 2, 2) == "fb";
    if (!inside) return true;
  }
  return false;
}

}  // namespace

std::int64_t KernelShape::waves_on(std::int32_t sms) const {
  const std::int64_t at_once = std::int64_t{blocks_per_sm} * std::max(sms, 1);
  return (blocks + at_once - 1) / at_once;
}

std::int32_t KernelShape::spread_over(std::int64_t started, std::int32_t free_sms, bool on_idle_sms) const {
  const bool thinly = on_idle_sms || bound != Bound::kCompute;
  const std::int64_t sms = thinly ? started : (started + blocks_per_sm - 1) / blocks_per_sm;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(sms, 1, std::max(free_sms, 1)));
}

double KernelShape::crowding(std::int64_t started, std::int32_t sms) const {
  if (bound != Bound::kCompute) return 1.0;
  const auto on_each = [&](std::int64_t count, std::int32_t of_sms) {
    return static_cast<double>(std::clamp<std::int64_t>((count + of_sms - 1) / of_sms, 1, blocks_per_sm));
  };
  return on_each(started, sms) / on_each(blocks, sm_count);
}

double KernelShape::pace(std::int64_t running, double block_ns, double ctas) const {
  if (bound != Bound::kGather) return 1.0;
  const double own = std::min(1.0, kOwnTimeOfBlock / block_ns);
  const double taken = static_cast<double>(running) / static_cast<double>(std::min(slots(), blocks));
  const double beside = 1.0 + kLostBesideCtas * std::min(ctas, kMostCtas) / kReferenceCtas;
  return 1.0 / ((own + (1.0 - own) * taken) * beside);
}

double KernelShape::lost_beside(double held_sms) const {
  const bool one_cluster = held_sms >= kCluster && held_sms < 2 * kCluster;
  return bound == Bound::kCompute && waves() > kManyRounds && one_cluster ? kIdleBesideCluster : 0.0;
}

Bound bound_of(std::string_view kernel_name) {
  static constexpr std::array<std::string_view, 5> kCompute{"gemm", "cutlass", "xmma", "cublas", "nvjet"};
  static constexpr std::array<std::string_view, 10> kGather{
      "split_embedding", "bounds_check", "permute_2D",  "linearize_index", "embedding_bag",
      "index_select",    "sum_bags",     "update_rows", "locate_ids",      "spread_ids"};
  const auto any = [&](std::span<const std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view w) { return names_word(kernel_name, w); });
  };
  if (names_word(kernel_name, "splitKreduce")) return Bound::kStreaming;
  if (any(kCompute)) return Bound::kCompute;
  return any(kGather) ? Bound::kGather : Bound::kStreaming;
}

KernelShape shape_of(const trace::KernelDetail& kernel, std::string_view name, const trace::Device* device) {
  const auto fact = [&](auto member, std::int64_t otherwise) {
    const std::int64_t value = device == nullptr ? 0 : static_cast<std::int64_t>(device->*member);
    return value > 0 ? value : otherwise;
  };
  const std::int64_t threads_per_sm = fact(&trace::Device::max_threads_per_sm, 2048);
  const std::int64_t registers_per_sm = fact(&trace::Device::registers_per_sm, 65536);
  const std::int64_t shared_per_sm = fact(&trace::Device::shared_memory_per_sm, 233472);

  const std::int64_t warps = std::max<std::int64_t>(1, (kernel.threads_per_block() + kWarp - 1) / kWarp);
  const std::int64_t registers = round_up(std::max(kernel.registers_per_thread, 1) * kWarp, kRegisterUnit) * warps;
  std::int64_t fit = std::min(kMaxBlocksPerSm, threads_per_sm / (warps * kWarp));
  fit = std::min(fit, registers_per_sm / registers);
  if (kernel.shared_memory > 0) fit = std::min(fit, shared_per_sm / (kernel.shared_memory + kSharedMemoryOverhead));
  if (kernel.blocks_per_sm_limit && *kernel.blocks_per_sm_limit > 0) fit = *kernel.blocks_per_sm_limit;

  KernelShape shape;
  shape.bound = bound_of(name);
  shape.blocks = std::max<std::int64_t>(1, kernel.blocks());
  shape.blocks_per_sm = static_cast<std::int32_t>(std::max<std::int64_t>(1, fit));
  shape.sm_count = static_cast<std::int32_t>(fact(&trace::Device::sm_count, 132));
  const auto of_a_block = static_cast<double>(kernel.shared_memory + kSharedMemoryOverhead);
  shape.shared_kib = std::min(shape.blocks_per_sm * of_a_block, static_cast<double>(shared_per_sm)) / 1024.0;
  return shape;
}

bool share_an_sm(const KernelShape& first, const KernelShape& later) {
  return later.shared_kib < first.shared_kib + kMoreSharedKib;
}

}  // namespace interlace::contention
