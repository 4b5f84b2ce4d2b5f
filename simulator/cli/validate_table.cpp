#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string_view>

#include "simulator/cli/validate_request.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

namespace {

using campaign::ErrorSizes;
using campaign::Judgement;
using campaign::ScheduleJudgement;
using report::Align;
using report::TextTable;

std::string signed_percent(const std::optional<double>& error) { return error ? fmt::format("{:+.2f}", *error) : "-"; }
std::string ratio_text(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.1f}", *ratio * 100) : "-"; }
std::string gibibytes(const std::optional<Bytes>& bytes) {
  return bytes ? fmt::format("{:.3f}", static_cast<double>(*bytes) / kGibibyte) : "-";
}
std::string sizes_text(const ErrorSizes& sizes) {
  return sizes.count == 0 ? "not known" : fmt::format("{:.2f} / {:.2f}", sizes.mean, sizes.largest);
}

void write_times(std::ostream& out, const Judgement& judgement, const report::TextStyle& style) {
  TextTable table({{"schedule"},
                   {"runs", Align::kRight},
                   {"measured ms", Align::kRight},
                   {"+-", Align::kRight},
                   {"predicted", Align::kRight},
                   {"error %", Align::kRight},
                   {"speed-up %", Align::kRight}});
  for (const ScheduleJudgement& row : judgement.schedules) {
    if (row.runs == 0) {
      table.add({row.schedule, "0", "failed", "", fmt::format("{:.2f}", row.predicted_ms), "", ""});
      continue;
    }
    table.add({row.schedule, std::to_string(row.runs), fmt::format("{:.2f}", row.measured_ms),
               row.spread_ms ? fmt::format("{:.2f}", *row.spread_ms) : "-", fmt::format("{:.2f}", row.predicted_ms),
               signed_percent(row.step_error), row.recorded ? "recorded" : signed_percent(row.speedup_error)});
  }
  out << table.text(style) << '\n';
}

void write_overlap_and_memory(std::ostream& out, const Judgement& judgement, const report::TextStyle& style) {
  TextTable table({{"measured / predicted"},
                   {"hidden %", Align::kRight},
                   {"", Align::kRight},
                   {"exposed ms", Align::kRight},
                   {"", Align::kRight},
                   {"allocated GiB", Align::kRight},
                   {"", Align::kRight},
                   {"reserved GiB", Align::kRight},
                   {"", Align::kRight}});
  for (const ScheduleJudgement& row : judgement.schedules) {
    if (row.runs == 0) continue;
    const auto& overlap = row.measured_overlap;
    table.add(
        {report::shortened_front(row.schedule, 32), overlap ? ratio_text(overlap->hidden_ratio) : "-",
         ratio_text(row.predicted_overlap.hidden_ratio), overlap ? fmt::format("{:.2f}", overlap->exposed_ms) : "-",
         fmt::format("{:.2f}", row.predicted_overlap.exposed_ms), gibibytes(row.measured_allocated),
         gibibytes(row.predicted_allocated), gibibytes(row.measured_reserved), gibibytes(row.predicted_reserved)});
  }
  out << table.text(style) << '\n';
}

bool knows_spreads(const Judgement& judgement) {
  return std::ranges::any_of(judgement.schedules,
                             [](const ScheduleJudgement& row) { return row.spread_ms.has_value(); });
}

}  // namespace

void write_campaign_table(std::ostream& out, const campaign::Plan& plan, const std::string& predicted,
                          const campaign::PredictionFile& prediction, const Judgement& judgement,
                          const report::TextStyle& style) {
  out << fmt::format("{} on {}, predicted from {}{} alone\n", std::filesystem::path(plan.workload).filename().string(),
                     plan.ranks ? report::counted(*plan.ranks, "rank") : plan.device,
                     plan.recordings > 1 ? report::counted(plan.recordings, "recording") + " of " : "",
                     prediction.recorded);
  for (const std::string& gpu : plan.hardware) out << gpu << '\n';
  for (const auto& [name, value] : plan.settings) out << name << '=' << report::shortened(value, 60) << '\n';
  out << predicted << "\n\n";
  write_times(out, judgement, style);
  write_overlap_and_memory(out, judgement, style);
  TextTable table({{"errors of the others, mean / largest"}, {"", Align::kRight}});
  table.add({"speed-up, %", sizes_text(judgement.speedup)});
  table.add({"  of single rounds (the floor)", sizes_text(judgement.repeat_floor)});
  table.add({"  of saying that nothing changes", sizes_text(judgement.no_change)});
  table.add({"  of a replay without contention", sizes_text(judgement.no_contention)});
  table.add({"  of the critical path alone", sizes_text(judgement.critical_path)});
  table.add({"step time, %", sizes_text(judgement.step)});
  table.add({"hidden communication, points", sizes_text(judgement.overlap_points)});
  table.add({"  of so few steps (the floor)", sizes_text(judgement.overlap_floor)});
  table.add({"allocated, %", sizes_text(judgement.allocated)});
  table.add({"reserved, %", sizes_text(judgement.reserved)});
  out << table.text(style);
  out << (knows_spreads(judgement)
              ? fmt::format("order right for {} of {} pairs that differ by more than twice their spread\n",
                            judgement.pairs_right, judgement.pairs_counted)
              : "order: not known, as runs were not repeated\n");
  for (const std::string& pair : judgement.pairs_wrong) out << "  not foretold: " << pair << '\n';
  for (const ScheduleJudgement& row : judgement.schedules) {
    if (row.failure) out << row.schedule << " failed: " << report::shortened(*row.failure, style.width - 20) << '\n';
  }
  for (const campaign::LeftOut& one : prediction.left_out) {
    out << report::shortened("left out: " + one.schedule + ": " + one.why, style.width) << '\n';
  }
}

}  // namespace interlace::cli
