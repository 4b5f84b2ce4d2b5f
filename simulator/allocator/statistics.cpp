#include "simulator/allocator/statistics.hpp"

#include <array>
#include <string_view>

namespace interlace::allocator {

namespace {

constexpr std::array<std::pair<std::string_view, PoolStat Statistics::*>, 9> kPoolStats{{
    {"active", &Statistics::active},
    {"active_bytes", &Statistics::active_bytes},
    {"allocated_bytes", &Statistics::allocated_bytes},
    {"allocation", &Statistics::allocation},
    {"inactive_split", &Statistics::inactive_split},
    {"inactive_split_bytes", &Statistics::inactive_split_bytes},
    {"requested_bytes", &Statistics::requested_bytes},
    {"reserved_bytes", &Statistics::reserved_bytes},
    {"segment", &Statistics::segment},
}};

constexpr std::array<std::pair<std::string_view, Stat Statistics::*>, 2> kStats{{
    {"oversize_allocations", &Statistics::oversize_allocations},
    {"oversize_segments", &Statistics::oversize_segments},
}};

constexpr std::array<std::pair<std::string_view, std::int64_t Statistics::*>, 5> kCounts{{
    {"num_alloc_retries", &Statistics::num_alloc_retries},
    {"num_device_alloc", &Statistics::num_device_alloc},
    {"num_device_free", &Statistics::num_device_free},
    {"num_ooms", &Statistics::num_ooms},
    {"num_sync_all_streams", &Statistics::num_sync_all_streams},
}};

using Rows = std::vector<std::pair<std::string, std::int64_t>>;

void add(Rows& rows, const std::string& name, const Stat& stat) {
  rows.emplace_back(name + ".allocated", stat.allocated);
  rows.emplace_back(name + ".current", stat.current);
  rows.emplace_back(name + ".freed", stat.freed);
  rows.emplace_back(name + ".peak", stat.peak);
}

}  // namespace

void Statistics::reset_peaks() {
  for (const auto& [name, member] : kPoolStats) {
    PoolStat& stat = this->*member;
    stat.all.reset_peak();
    stat.small_pool.reset_peak();
    stat.large_pool.reset_peak();
  }
  for (const auto& [name, member] : kStats) (this->*member).reset_peak();
}

Rows memory_stats(const Statistics& statistics) {
  Rows rows;
  for (const auto& [name, member] : kPoolStats) {
    const PoolStat& stat = statistics.*member;
    add(rows, std::string(name) + ".all", stat.all);
    add(rows, std::string(name) + ".large_pool", stat.large_pool);
    add(rows, std::string(name) + ".small_pool", stat.small_pool);
  }
  for (const auto& [name, member] : kStats) add(rows, std::string(name), statistics.*member);
  for (const auto& [name, member] : kCounts) rows.emplace_back(name, statistics.*member);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace interlace::allocator
