#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/report/csv.hpp"
#include "simulator/report/memory_text.hpp"
#include "simulator/report/predict_data.hpp"

namespace interlace::report {

namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

std::string or_empty(const std::optional<Nanoseconds>& value) { return value ? std::to_string(*value) : ""; }

/// Of the rank that has most; empty where memory is not known.
std::string most(const Prediction& row, Bytes RankMemory::*member) {
  if (row.memory.empty()) return {};
  return std::to_string((*std::ranges::max_element(row.memory, {}, member)).*member);
}

/// How often it fits only since the cache is emptied; empty where memory is not known.
std::string cache_emptied(const Prediction& row) {
  return row.memory.empty() ? std::string() : std::to_string(most_retries(row));
}

}  // namespace

void write_predict_csv(std::ostream& out, const PredictReport& report) {
  write_csv_line(out, {"schedule",
                       "step_time_ns",
                       "step_time_low_ns",
                       "step_time_high_ns",
                       "speedup",
                       "exposed_communication_ns",
                       "compute_ns",
                       "communication_ns",
                       "copy_ns",
                       "communication_hidden_ns",
                       "copy_hidden_ns",
                       "idle_ns",
                       "lookup_ns",
                       "lookup_hidden_ns",
                       "host_blocked_ns",
                       "allocated_peak_bytes",
                       "active_peak_bytes",
                       "reserved_peak_bytes",
                       "reasons",
                       "diagnostics",
                       "hazards",
                       "tables_updates_late",
                       "dense_parameters_updates_late",
                       "communication_hidden_ratio",
                       "fits",
                       "gpu_memory_bytes",
                       "cache_emptied",
                       "known_hazards"});
  for (const Prediction& row : report.predictions) {
    const analysis::OverlapSummary& overlap = row.overlap;
    std::vector<std::string> reasons = row.reasons;
    reasons.insert(reasons.end(), row.races.begin(), row.races.end());
    std::vector<std::string> codes;
    for (const Diagnostic& found : row.diagnostics) codes.push_back(found.code);
    const std::optional<double> hidden = overlap.communication_hidden_ratio();
    const std::optional<bool> fit = fits(row);
    write_csv_line(out, {row.schedule,
                         std::to_string(row.step_time_ns),
                         std::to_string(row.step_time_low_ns),
                         std::to_string(row.step_time_high_ns),
                         row.speedup ? fmt::format("{:.6f}", *row.speedup) : "",
                         std::to_string(overlap.exposed_communication_ns),
                         std::to_string(overlap.compute_ns),
                         std::to_string(overlap.communication_ns),
                         std::to_string(overlap.copy_ns),
                         std::to_string(overlap.communication_hidden_ns),
                         std::to_string(overlap.copy_hidden_ns),
                         std::to_string(overlap.idle_ns),
                         or_empty(overlap.lookup_ns),
                         or_empty(overlap.lookup_hidden_ns),
                         or_empty(row.host_blocked_ns),
                         most(row, &RankMemory::allocated_peak),
                         most(row, &RankMemory::active_peak),
                         most(row, &RankMemory::reserved_peak),
                         joined(reasons),
                         joined(codes),
                         joined(row.hazards),
                         or_empty(row.tables_late),
                         or_empty(row.parameters_late),
                         hidden ? fmt::format("{:.6f}", *hidden) : "",
                         !report.recorded.capacity || !fit ? ""
                         : *fit                            ? "true"
                                                           : "false",
                         or_empty(report.recorded.capacity),
                         report.recorded.capacity ? cache_emptied(row) : "",
                         joined(row.known_hazards)});
  }
}

}  // namespace interlace::report
