#include "tests/unit/engine/training.hpp"

#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::engine {

bool Ending::same_as(const Ending& other) const {
  return error == other.error && digest == other.digest && validations == other.validations &&
         losses.size() == other.losses.size() &&
         std::memcmp(losses.data(), other.losses.data(), losses.size() * sizeof(float)) == 0;
}

Ending end_of(const schedule::Schedule& schedule, const Workload& workload, std::optional<std::uint64_t> seed,
              const cpu::HostReads* foreseen) {
  Ending ending;
  try {
    const std::vector<RankResult> ranks = run_on_cpu(schedule, workload, {.seed = seed, .foreseen = foreseen});
    ending.losses = ranks.front().losses;
    for (const RankResult& rank : ranks) {
      ending.digest += rank.digest;
      ending.validations.insert(ending.validations.end(), rank.validations.begin(), rank.validations.end());
    }
  } catch (const Error& error) {
    ending.error = error.what();
  }
  return ending;
}

Workload workload_on(const std::string& name, int ranks) {
  Workload workload = load_workload(name);
  workload.ranks = ranks;
  return workload;
}

schedule::Schedule without(const std::string& schedule, const std::string& pointer) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    if (entry.name != schedule) continue;
    nlohmann::json json = nlohmann::json::parse(entry.text);
    const nlohmann::json::json_pointer place(pointer);
    nlohmann::json& holder = json.at(place.parent_pointer());
    static_cast<void>(json.at(place));
    if (holder.is_array()) {
      holder.erase(std::stoul(place.back()));
    } else {
      holder.erase(place.back());
    }
    return schedule::parse(json.dump(), "edited " + schedule);
  }
  throw std::invalid_argument(schedule);
}

}  // namespace interlace::engine
