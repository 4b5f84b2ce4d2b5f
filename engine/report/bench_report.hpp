#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace interlace::engine {

/// What one run of a schedule took, in a process group of its own.
struct BenchRun {
  double seconds = 0.0;                         ///< of all timed steps
  std::vector<double> step_ms;                  ///< of rank 0's timed steps, on its main stream
  std::map<std::string, std::string> settings;  ///< of NCCL
  std::int64_t allocated = 0;                   ///< bytes at the peak, of the rank that has most
  std::int64_t reserved = 0;                    ///< the same
  std::vector<std::optional<double>> losses;    ///< a value a step; none: no number
  std::string tables;                           ///< digest of all parameters at the end
  std::int64_t wrong_reads = 0;                 ///< validations that did not pass
};

struct BenchLine {
  std::string schedule;
  std::vector<BenchRun> runs;  ///< in the order in which they were made
  std::string failure;         ///< how the run after those ended, which was the last; empty where all ended well
};

struct BenchReport {
  std::string workload;
  std::string device;
  std::int64_t steps = 1;   ///< that are timed, in each run
  std::int64_t warmup = 0;  ///< steps before those, in each run
  std::vector<BenchLine> lines;
};

/// The smallest value that at least `share` of all do not exceed (nearest rank), share in (0, 1]. `values` is not
/// empty.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// Whether all runs computed the same bits.
[[nodiscard]] bool repeatable(const BenchLine& line);

/// Of all its runs.
[[nodiscard]] std::int64_t wrong_reads(const BenchLine& line);

/// Takes a run as `run --format json` wrote it. Where that cannot be understood, the line says so as the failure of
/// this run and keeps those before.
void take_run(BenchLine& line, const std::string& json);

/// Some line has runs. Those without have no figures, here and in the table.
void write_json(std::ostream& out, const BenchReport& report);
/// A schedule a line: runtime of all timed steps at P50 and P90 with the spread over the runs, allocated and reserved
/// memory at P90. Some line has runs.
void write_table(std::ostream& out, const BenchReport& report);

}  // namespace interlace::engine
