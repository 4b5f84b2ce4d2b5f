#include <fmt/format.h>

#include <ostream>

#include "simulator/report/csv.hpp"
#include "simulator/report/sweep_data.hpp"

namespace interlace::report {

void write_sweep_csv(std::ostream& out, const SweepReport& report) {
  const auto yes_or_no = [](bool is_so) { return std::string(is_so ? "yes" : "no"); };
  write_csv_line(out, {"value", "schedule", "step_time_ns", "step_time_low_ns", "step_time_high_ns", "speedup",
                       "exposed_communication_ns", "idle_ns", "host_blocked_ns", "fits", "fastest"});
  for (std::size_t i = 0; i < report.values.size(); ++i) {
    for (std::size_t schedule = 0; schedule < report.rows[i].size(); ++schedule) {
      const Prediction& row = report.rows[i][schedule];
      const std::optional<bool> fit = fits(row);
      write_csv_line(out, {fmt::format("{}", report.values[i]), row.schedule, std::to_string(row.step_time_ns),
                           std::to_string(row.step_time_low_ns), std::to_string(row.step_time_high_ns),
                           row.speedup ? fmt::format("{:.6f}", *row.speedup) : "",
                           std::to_string(row.overlap.exposed_communication_ns), std::to_string(row.overlap.idle_ns),
                           row.host_blocked_ns ? std::to_string(*row.host_blocked_ns) : "", fit ? yes_or_no(*fit) : "",
                           yes_or_no(is_among_fastest(report.rows[i], schedule))});
    }
  }
}

}  // namespace interlace::report
