#include "simulator/report/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace interlace::report {

namespace {

constexpr double kGigabyte = 1e9;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr std::size_t kShownCulprits = 4;

std::string culprits_line(const RankMemory& memory) {
  std::string text = fmt::format("at the peak: {} always there", gigabytes(memory.persistent));
  for (std::size_t i = 0; i < std::min(kShownCulprits, memory.culprits.size()); ++i) {
    const MemoryCulprit& culprit = memory.culprits[i];
    text += fmt::format(", {} of {}", gigabytes(culprit.bytes), culprit.stage);
    if (culprit.batch != 0) text += fmt::format(" (batch {:+})", culprit.batch);
  }
  return text;
}

}  // namespace

std::string gigabytes(Bytes bytes) { return fmt::format("{:.2f} GB", static_cast<double>(bytes) / kGigabyte); }

const RankMemory& fullest_rank(const Prediction& prediction) {
  return *std::ranges::max_element(prediction.memory, {}, &RankMemory::reserved_peak);
}

std::vector<std::string> memory_lines(const Prediction& prediction, std::optional<Bytes> capacity) {
  const auto limit = [&] {
    return fmt::format("{:.1f} GiB ({})", static_cast<double>(*capacity) / kGibibyte, gigabytes(*capacity));
  };
  if (prediction.memory.empty()) {
    if (!capacity) return {};
    return {fmt::format("whether it fits in {} cannot be told: memory was not recorded", limit())};
  }
  const RankMemory& memory = fullest_rank(prediction);
  std::vector<std::string> lines;
  std::string peaks = fmt::format("memory peak: allocated {}, active {}, reserved {}", gigabytes(memory.allocated_peak),
                                  gigabytes(memory.active_peak), gigabytes(memory.reserved_peak));
  if (memory.reserved_low != memory.reserved_high) {
    peaks += fmt::format(" ({:.2f} - {:.2f})", static_cast<double>(memory.reserved_low) / kGigabyte,
                         static_cast<double>(memory.reserved_high) / kGigabyte);
  }
  lines.push_back(std::move(peaks));
  lines.push_back(culprits_line(memory));
  if (!capacity) return lines;
  const auto failed =
      std::ranges::find_if(prediction.memory, [](const RankMemory& m) { return m.failure.has_value(); });
  const std::string where = limit();
  if (failed != prediction.memory.end()) {
    lines.push_back(fmt::format("does not fit in {}: {}", where, *failed->failure));
  } else if (memory.retries > 0) {
    lines.push_back(fmt::format("fits in {} only by emptying the cache {} times, for which the device is synchronised",
                                where, memory.retries));
  } else {
    lines.push_back(fmt::format("fits in {}", where));
  }
  return lines;
}

}  // namespace interlace::report
