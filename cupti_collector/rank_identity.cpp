#include "cupti_collector/rank_identity.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

namespace interlace::collector {

namespace {

/// A recording has far fewer processes than that.
constexpr std::int32_t kMostFiles = 1'000'000;

std::optional<std::int32_t> number(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size() && value >= 0;
  return is_number ? std::optional(value) : std::nullopt;
}

}  // namespace

RankIdentity identify_rank(const std::function<const char*(const char*)>& variable) {
  static constexpr std::array<std::pair<const char*, const char*>, 4> kLaunchers{{
      {"RANK", "WORLD_SIZE"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_NTASKS"},
  }};
  for (const auto& [rank_name, size_name] : kLaunchers) {
    const auto rank = number(variable(rank_name));
    const auto size = number(variable(size_name));
    if (rank) return {rank, size && *size > *rank ? size : std::nullopt};
  }
  return {};
}

std::filesystem::path rank_file(const std::filesystem::path& folder, std::int32_t number) {
  return folder / ("rank" + std::to_string(number) + ".ilt");
}

std::optional<std::int32_t> create_rank_file(const std::filesystem::path& folder, const RankIdentity& identity,
                                             FileOutput& output) {
  if (identity.rank) {
    if (output.create(rank_file(folder, *identity.rank))) return identity.rank;
    if (errno != EEXIST) return std::nullopt;
  }
  for (std::int32_t free = identity.world_size.value_or(0); free < kMostFiles; ++free) {
    if (output.create(rank_file(folder, free))) return free;
    if (errno != EEXIST) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace interlace::collector
