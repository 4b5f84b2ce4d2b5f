#include "simulator/ingest/memory_snapshot/settings.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::ingest::memory_snapshot {

namespace {

constexpr Bytes kMebibyte = Bytes{1} << 20U;
/// More than PyTorch has sizes for. Texts may be shared, so a damaged file could name long ones without end.
constexpr std::size_t kMostDivisions = 64;

/// "[1:0,2:4,...]", or nothing where no size is divided.
std::string divisions_text(const pickle::Value& divisions) {
  if (divisions.size() > kMostDivisions) return {};
  std::vector<std::string> sizes;
  bool divides = false;
  bool is_size = true;
  std::string size;
  for (const pickle::Value value : divisions) {
    if (is_size) {
      size = std::string(value.text().value_or(""));
    } else {
      const std::int64_t parts = value.integer().value_or(0);
      divides = divides || parts > 1;  // PyTorch takes 1 for "not"
      sizes.push_back(fmt::format("{}:{}", size, parts));
    }
    is_size = !is_size;
  }
  return divides ? fmt::format("[{}]", fmt::join(sizes, ",")) : std::string();
}

}  // namespace

std::string settings_text(const pickle::Value& allocator_settings) {
  for (const char* const name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const auto text = allocator_settings.find(name);
    if (text && !text->text().value_or("").empty()) return std::string(*text->text());
  }
  std::vector<std::string> settings;
  if (const auto value = allocator_settings.find("expandable_segments"); value && value->boolean() == true) {
    settings.emplace_back("expandable_segments:True");
  }
  if (const auto value = allocator_settings.find("max_split_size"); value && value->integer().value_or(-1) > 0) {
    settings.push_back(fmt::format("max_split_size_mb:{}", *value->integer() / kMebibyte));
  }
  if (const auto value = allocator_settings.find("garbage_collection_threshold");
      value && value->number().value_or(0) > 0) {
    settings.push_back(fmt::format("garbage_collection_threshold:{}", *value->number()));
  }
  if (const auto value = allocator_settings.find("roundup_power2_divisions")) {
    const std::string divisions = divisions_text(*value);
    if (!divisions.empty()) settings.push_back("roundup_power2_divisions:" + divisions);
  }
  return fmt::format("{}", fmt::join(settings, ","));
}

}  // namespace interlace::ingest::memory_snapshot
