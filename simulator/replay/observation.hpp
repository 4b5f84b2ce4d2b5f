#pragma once

#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/base/units.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/replay/gatherings.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Work launched this long before what it waited for ended was queued in time: it was ready then, and a gap in front of
/// it is the device's own.
inline constexpr Nanoseconds kQueuedEarly = 20 * kMicrosecond;

/// When collectives held SMs of one rank, how many, and whether they moved data.
class CollectiveCompany {
 public:
  /// One that `arrivals` does not tell of is taken to have moved data all the time.
  CollectiveCompany(const trace::Trace& trace, trace::RankId rank, const Arrivals& arrivals);

  /// Relative to the start of the span.
  [[nodiscard]] std::vector<contention::HeldSms> beside(Interval span) const;

 private:
  struct Held {
    Interval span;
    std::int32_t ctas = 0;
    bool moving = true;
  };
  std::vector<Held> held_;  ///< by begin
  Nanoseconds longest_ = 0;
};

/// Of every rank of the trace, in their order.
[[nodiscard]] std::vector<CollectiveCompany> collective_company(const trace::Trace& trace, const Arrivals& arrivals);

/// Kernels of one rank, and copies within its memory, to see which ran beside which.
class DeviceCompany {
 public:
  DeviceCompany(const trace::Trace& trace, trace::RankId rank);

  struct Beside {
    Nanoseconds all = 0;         ///< one or more of them ran
    Nanoseconds came_later = 0;  ///< one or more that began when it ran already
  };
  /// For how long of its time such works of other streams ran beside it.
  [[nodiscard]] Beside beside(trace::OperationId op) const;

 private:
  const trace::Trace* trace_;
  std::vector<trace::OperationId> works_;
  Nanoseconds longest_ = 0;
};

/// One recorded instance of a work, with the company it had.
struct Observation {
  double measured_ns = 0;
  std::vector<contention::HeldSms> held;
  double covered_ns = 0;  ///< beside collectives
  double moving_ns = 0;   ///< of that, while they moved data
  std::int32_t ctas = 0;
  double company_ns = 0;  ///< beside other works than collectives, of other streams
  double later_ns = 0;    ///< beside such that came when it ran already

  /// Beside other works than collectives for more than a small part of its time.
  [[nodiscard]] bool in_company() const { return company_ns * 50.0 > measured_ns; }
  [[nodiscard]] bool beside_collectives() const { return covered_ns * 50.0 > measured_ns; }
  /// Others of its priority come in when its last blocks have found an SM: for more than a small part of its time only
  /// more urgent ones do.
  [[nodiscard]] bool was_put_off() const { return later_ns * 2.0 > measured_ns; }
};

[[nodiscard]] Observation observe(const trace::Trace& trace, trace::OperationId op, const CollectiveCompany& company);

/// Of the times of these observations, those of which `holds` is true.
[[nodiscard]] std::vector<double> times_where(const std::vector<Observation>& observations,
                                              const std::vector<double>& times, bool (*holds)(const Observation&));
/// Those without company but collectives.
[[nodiscard]] std::vector<double> times_by_itself(const std::vector<Observation>& observations,
                                                  const std::vector<double>& times);

/// The shortest of the times of these observations. One of less than half of what the kernel takes by itself does not
/// count: it had next to nothing to do. Where a lookup does not wait for its input (torchrec #2933), an update of 930
/// us took 12 in one of ten recorded steps. REQUIRES: there are some.
[[nodiscard]] double shortest_time(const std::vector<Observation>& observations, const std::vector<double>& times);

/// Relative standard deviation, from the middle half of the values (a normal distribution's lies within 0.674 of it),
/// which outliers do not move; at most `most`.
[[nodiscard]] double spread_of(const std::vector<double>& values, double most);

}  // namespace interlace::replay
