#include "simulator/replay/recorded_schedule.hpp"

#include "simulator/replay/host_pace.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/replay/usual_waits.hpp"

namespace interlace::replay {

const schedule::Schedule* recorded_schedule(std::span<const schedule::Schedule> candidates, const trace::Trace& trace,
                                            const stages::Cut& cut, SiteTable& table,
                                            std::optional<double> unrecorded_ns) {
  const schedule::Schedule* recorded = recognise(candidates, trace, cut, table);
  if (recorded == nullptr) return nullptr;
  table.unrecorded_step_ns = unrecorded_ns ? unrecorded_ns : unrecorded_step_ns(trace);
  if (table.unrecorded_step_ns) learn_host_pace(*table.unrecorded_step_ns, cut, *recorded, table);
  learn_waits(cut, *recorded, table);
  return recorded;
}

}  // namespace interlace::replay
