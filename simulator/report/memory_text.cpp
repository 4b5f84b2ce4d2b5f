#include "simulator/report/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

constexpr std::size_t kShownCulprits = 4;

std::string culprits_line(const RankMemory& memory) {
  std::string text = fmt::format("at the peak: {} always there", bytes_text(memory.persistent));
  for (std::size_t i = 0; i < std::min(kShownCulprits, memory.culprits.size()); ++i) {
    const MemoryCulprit& culprit = memory.culprits[i];
    text += fmt::format(", {} of {}", bytes_text(culprit.bytes), culprit.stage);
    if (culprit.batch != 0) text += fmt::format(" (batch {:+})", culprit.batch);
  }
  return text;
}

}  // namespace

std::string recorded_peaks(const RecordedRun& recorded) {
  std::string text;
  const auto add = [&](std::string_view what, std::optional<Bytes> RecordedMemory::*member) {
    std::optional<Bytes> most;
    for (const RecordedMemory& rank : recorded.memory) most = std::max(most, rank.*member);  // none is less than any
    if (most) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, bytes_text(*most));
  };
  add("allocated", &RecordedMemory::allocated_peak);
  add("active", &RecordedMemory::active_peak);
  add("reserved", &RecordedMemory::reserved_peak);
  return text.empty() ? text : text + " at most";
}

const RankMemory& fullest_rank(const Prediction& prediction) {
  return *std::ranges::max_element(prediction.memory, {}, &RankMemory::reserved_peak);
}

std::int64_t most_retries(const Prediction& prediction) {
  return std::ranges::max_element(prediction.memory, {}, &RankMemory::retries)->retries;
}

std::vector<std::string> memory_lines(const Prediction& prediction, std::optional<Bytes> capacity) {
  if (prediction.memory.empty()) {
    if (!capacity) return {};
    return {fmt::format("whether it fits in {} cannot be told: memory was not recorded", bytes_text(*capacity))};
  }
  const RankMemory& memory = fullest_rank(prediction);
  std::vector<std::string> lines;
  std::string peaks =
      fmt::format("memory peak: allocated {}, active {}, reserved {}", bytes_text(memory.allocated_peak),
                  bytes_text(memory.active_peak), bytes_text(memory.reserved_peak));
  if (memory.reserved_low != memory.reserved_high) {
    peaks += fmt::format(" ({} - {})", bytes_text(memory.reserved_low), bytes_text(memory.reserved_high));
  }
  lines.push_back(std::move(peaks));
  lines.push_back(culprits_line(memory));
  if (!capacity) return lines;
  const auto failed =
      std::ranges::find_if(prediction.memory, [](const RankMemory& m) { return m.failure.has_value(); });
  const std::string where = bytes_text(*capacity);
  if (failed != prediction.memory.end()) {
    lines.push_back(fmt::format("does not fit in {}: {}", where, *failed->failure));
  } else if (const std::int64_t retries = most_retries(prediction); retries > 0) {
    lines.push_back(
        fmt::format("fits in {} only by emptying the cache {} in {} from the start of a run (the rank and run with "
                    "most): the device is synchronised for that, which the step time does not include",
                    where, counted(retries, "time"), counted(memory.played_steps, "step")));
  } else {
    lines.push_back(fmt::format("fits in {}", where));
  }
  return lines;
}

}  // namespace interlace::report
