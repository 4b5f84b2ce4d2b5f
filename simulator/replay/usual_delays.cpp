#include "simulator/replay/usual_delays.hpp"

#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"

namespace interlace::replay {

double learn_delays(const stages::Cut& cut, const schedule::Schedule& recorded, SiteTable& table) {
  constexpr std::int32_t kSteps = 8;  // those of a step hardly ever differ from those of the next
  SimulationOptions options = on_recorded_machine({.as_recorded = true}, table);
  options.iterations = options.warm_up + kSteps;
  struct Seen {
    Delays sum;
    double works = 0;
  };
  const SimulationResult replayed = simulate(compile(recorded, cut, table), table, options);
  std::vector<Seen> seen(table.sites.size());
  for (const Work& work : replayed.works) {
    if (work.iteration < options.warm_up || !work.start_ns) continue;
    Seen& of_site = seen[work.site.index()];
    of_site.sum.waits += work.delays.waits;
    of_site.sum.waiting_streams += work.delays.waiting_streams;
    of_site.works += 1;
  }
  for (std::size_t s = 0; s < seen.size(); ++s) {
    const auto& [sum, works] = seen[s];
    if (works > 0) table.sites[s].delays = {sum.waits / works, sum.waiting_streams / works};
  }
  return statistics::mean(replayed.steps_ns);
}

}  // namespace interlace::replay
