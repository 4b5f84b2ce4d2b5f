#pragma once

#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// A small answer with everything in it: two schedules, the second faster, hazardous and stale; a race; a flaw of
/// either kind; a skipped one.
inline PredictReport sample_report() {
  PredictReport report;
  report.recorded = {.files = {"sparse.r0.json.gz", "sparse.r1.json.gz"},
                     .schedule = "torchrec/sparse_dist",
                     .ranks = {0, 1},
                     .world_size = 2,
                     .steps = 3,
                     .step_time_ns = 34'100'000,
                     .predicted_step_time_ns = 34'000'000,
                     .overlap = analysis::OverlapSummary{.step_ns = 34'100'000, .compute_ns = 30'000'000},
                     .host_blocked_ns = 24'300'000,
                     .diagnostics = {{"graph.inferred_wait", Severity::kInfo, "waits whose record was inferred",
                                      "nothing to do", 1234, "r0.json.gz"},
                                     {"kineto.lost", Severity::kDataLoss, "records that the profiler dropped",
                                      "record fewer steps", 2, ""}}};
  const analysis::OverlapSummary overlap{.step_ns = 36'000'000,
                                         .compute_ns = 30'000'000,
                                         .communication_ns = 8'000'000,
                                         .copy_ns = 2'000'000,
                                         .communication_hidden_ns = 2'000'000,
                                         .exposed_communication_ns = 6'000'000,
                                         .copy_hidden_ns = 1'000'000,
                                         .idle_ns = 900'000};
  report.predictions.push_back({.schedule = "torchrec/base",
                                .step_time_ns = 36'000'000,
                                .step_time_low_ns = 35'500'000,
                                .step_time_high_ns = 37'000'000,
                                .speedup = 34.0 / 36.0,
                                .overlap = overlap,
                                .host_blocked_ns = 5'250'000,
                                .reasons = {"exposes 4.0 ms more communication", "host now blocks \"long\", 3.2 ms"},
                                .races = {"gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms"},
                                .diagnostics = {{"replay.assumed", Severity::kWarning, "assumed", "look", 1, ""}},
                                .hazards = {},
                                .known_hazards = {"free_before_last_use of output_exchange(i)"},
                                .tables_late = 0,
                                .parameters_late = 0});
  report.predictions.push_back({.schedule = "mine, \"v2\"",
                                .step_time_ns = 32'000'000,
                                .step_time_low_ns = 32'000'000,
                                .step_time_high_ns = 32'000'000,
                                .speedup = std::nullopt,
                                .overlap = {.step_ns = 32'000'000, .compute_ns = 31'000'000, .idle_ns = 1'000'000},
                                .host_blocked_ns = std::nullopt,
                                .reasons = {},
                                .races = {},
                                .diagnostics = {},
                                .hazards = {"read_before_write of kjt(i)", "another"},
                                .known_hazards = {},
                                .tables_late = 1,
                                .parameters_late = std::nullopt});
  report.skipped.push_back({"torchrec/prefetch_sparse_dist", "the recording has no stage prefetch"});
  report.skipped.push_back({"torchrec/other", "the recording has no stage prefetch"});
  return report;
}

}  // namespace interlace::report
