#include "simulator/replay/usual_waits.hpp"

#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"

namespace interlace::replay {

double learn_waits(const stages::Cut& cut, const schedule::Schedule& recorded, SiteTable& table) {
  constexpr std::int32_t kSteps = 8;  // the waits of a step hardly ever differ from those of the next
  SimulationOptions options = on_recorded_machine({.as_recorded = true}, table);
  options.iterations = options.warm_up + kSteps;
  struct Waits {
    double sum = 0;
    double works = 0;
  };
  const SimulationResult replayed = simulate(compile(recorded, cut, table), table, options);
  std::vector<Waits> seen(table.sites.size());
  for (const Work& work : replayed.works) {
    if (work.iteration < options.warm_up || !work.start_ns) continue;
    Waits& of_site = seen[work.site.index()];
    of_site.sum += work.waits;
    of_site.works += 1;
  }
  for (std::size_t s = 0; s < seen.size(); ++s) {
    if (seen[s].works > 0) table.sites[s].waits = seen[s].sum / seen[s].works;
  }
  return statistics::mean(replayed.steps_ns);
}

}  // namespace interlace::replay
