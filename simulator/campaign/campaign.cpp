#include "simulator/campaign/campaign.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "simulator/campaign/campaign_files.hpp"

namespace interlace::campaign {

const PredictedSchedule* PredictionFile::find(const std::string& schedule) const {
  const auto found = std::ranges::find(schedules, schedule, &PredictedSchedule::schedule);
  return found == schedules.end() ? nullptr : &*found;
}

MeasuredRun read_engine_run(const std::string& text, const std::string& source) {
  constexpr double kMsPerSecond = 1e3;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    MeasuredRun run;
    run.schedule = json.at("schedule").get<std::string>();
    const auto steps = json.at("timed_steps").get<std::int64_t>();
    if (steps < 1) throw Error(kBadFile, source, "timed_steps is less than 1", "run the engine with more --steps");
    run.step_ms = json.at("seconds").get<double>() * kMsPerSecond / static_cast<double>(steps);
    const auto first = static_cast<std::size_t>(json.value("warmup", std::int64_t{0}));
    for (const auto& rank : json.at("ranks")) {
      run.allocated_peak.push_back(rank.at("peak_allocated_bytes").get<Bytes>());
      run.reserved_peak.push_back(rank.at("peak_reserved_bytes").get<Bytes>());
      const auto all = rank.value("step_ms", std::vector<double>());
      for (std::size_t i = first; i < std::min(all.size(), first + static_cast<std::size_t>(steps)); ++i) {
        run.single_steps_ms.push_back(all[i]);
      }
    }
    return run;
  } catch (const nlohmann::json::exception& error) {
    throw Error(kBadFile, source, std::string("not what interlace-engine run writes: ") + error.what(),
                "see what the engine wrote to its log beside it");
  }
}

}  // namespace interlace::campaign
