#include "engine/launch/world.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace interlace::engine {

namespace {

struct Variables {
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* starter;
};
// A script of sbatch is told of a rank, too, and of the tasks of the job; those of a step stand only where srun started
// it.
constexpr std::array<Variables, 3> kKnown = {
    {{"RANK", "WORLD_SIZE", "LOCAL_RANK", "torchrun"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "mpirun"},
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "Slurm"}}};

int number(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  int value = 0;
  if (text) {
    const char* end = text->data() + text->size();
    const auto [stop, problem] = std::from_chars(text->data(), end, value);
    if (problem == std::errc() && stop == end && value >= 0) return value;
  }
  throw Error(kWorldSize, name, text ? "\"" + *text + "\" is no number of a rank" : "is not set",
              "start all ranks by the same launcher, or unset its variables");
}

}  // namespace

std::optional<WorldPlace> find_world(const Environment& environment) {
  for (const Variables& names : kKnown) {
    if (!environment(names.rank) || !environment(names.ranks)) continue;
    WorldPlace place{.rank = number(environment, names.rank),
                     .ranks = number(environment, names.ranks),
                     .local_rank = number(environment, names.local_rank),
                     .starter = names.starter};
    if (place.rank >= place.ranks || place.local_rank > place.rank) {
      throw Error(kWorldSize, names.rank,
                  "rank " + std::to_string(place.rank) + " (local " + std::to_string(place.local_rank) + ") of " +
                      std::to_string(place.ranks) + " ranks",
                  "start all ranks by the same launcher, or unset its variables");
    }
    if (place.ranks == 1) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

}  // namespace interlace::engine
