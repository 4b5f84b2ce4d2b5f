#include "engine/report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "engine/report/units.hpp"

namespace interlace::engine {

namespace {

using Json = nlohmann::ordered_json;

std::string digest_of(const RunReport& report) {
  std::uint64_t sum = 0;
  for (const RankResult& rank : report.ranks) sum += rank.digest;
  return fmt::format("{:016x}", sum);
}

double seconds_of(const RunReport& report) {
  double longest = 0.0;
  for (const RankResult& rank : report.ranks) longest = std::max(longest, rank.seconds);
  return longest;
}

std::vector<double> step_milliseconds(const RankResult& rank) {
  std::vector<double> steps;
  for (const double seconds : rank.step_seconds) steps.push_back(seconds / kSecondsPerMillisecond);
  return steps;
}

// A step's share of each line.
Json profile_of(const RankResult& rank, std::int64_t timed_steps) {
  Json lines = Json::array();
  const auto steps = static_cast<double>(timed_steps);
  for (const ProfileLine& line : rank.profile) {
    lines.push_back({{"kind", line.kind},
                     {"name", line.name},
                     {"count", line.count},
                     {"host_ms_a_step", line.host_seconds / kSecondsPerMillisecond / steps},
                     {"device_ms_a_step", line.device_seconds / kSecondsPerMillisecond / steps}});
  }
  return lines;
}

void write_profile(std::ostream& out, const RunReport& report) {
  if (report.ranks.front().profile.empty()) return;
  const auto steps = static_cast<double>(report.timed_steps);
  out << fmt::format("\nrank 0, a timed step\n{:<12}{:<36}{:>8}{:>14}{:>14}\n", "kind", "name", "count", "host ms",
                     "device ms");
  for (const ProfileLine& line : report.ranks.front().profile) {
    out << fmt::format("{:<12}{:<36}{:>8.1f}{:>14.3f}{:>14.3f}\n", line.kind, line.name,
                       static_cast<double>(line.count) / steps, line.host_seconds / kSecondsPerMillisecond / steps,
                       line.device_seconds / kSecondsPerMillisecond / steps);
  }
}

// JSON has no NaN: such a loss is written as null.
Json loss_of(float loss) { return std::isfinite(loss) ? Json(static_cast<double>(loss)) : Json(nullptr); }

}  // namespace

std::int64_t wrong_reads(const RunReport& report) {
  std::int64_t wrong = 0;
  for (const RankResult& rank : report.ranks) {
    wrong += std::ranges::count(rank.validations, false, &Validation::passed);
  }
  return wrong;
}

void write_json(std::ostream& out, const RunReport& report) {
  Json json = {{"interlace_run", 1},      {"workload", report.workload},   {"schedule", report.schedule},
               {"device", report.device}, {"seconds", seconds_of(report)}, {"timed_steps", report.timed_steps}};
  json["warmup"] = report.warmup;
  json["batch"] = report.batch;
  json["settings"] = report.settings;
  json["losses"] = Json::array();
  for (const float loss : report.ranks.front().losses) json["losses"].push_back(loss_of(loss));
  json["tables"] = report.digest ? Json(digest_of(report)) : Json(nullptr);
  json["ranks"] = Json::array();
  json["validations"] = Json::array();
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankResult& result = report.ranks[rank];
    json["ranks"].push_back({{"peak_allocated_bytes", result.peaks.allocated},
                             {"peak_reserved_bytes", result.peaks.reserved},
                             {"step_ms", step_milliseconds(result)}});
    if (!result.profile.empty()) json["ranks"].back()["profile"] = profile_of(result, report.timed_steps);
    for (const Validation& validation : result.validations) {
      json["validations"].push_back(
          {{"rank", rank}, {"batch", validation.batch}, {"mode", validation.mode}, {"passed", validation.passed}});
    }
  }
  out << json.dump(2) << '\n';
}

void write_table(std::ostream& out, const RunReport& report) {
  const std::size_t steps = report.ranks.front().losses.size();
  out << fmt::format("{} on {}, {} ranks, {}\n\n", report.schedule, report.workload, report.ranks.size(),
                     report.device);
  if (steps > 0) out << fmt::format("{:>6}  {:>12}\n", "step", "loss");
  for (std::size_t step = 0; step < steps; ++step) {
    out << fmt::format("{:>6}  {:>12.9f}\n", step, report.ranks.front().losses[step]);
  }
  if (steps > 0 && report.digest) out << fmt::format("\ntables  {}\n", digest_of(report));
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankResult& result = report.ranks[rank];
    out << fmt::format("rank {}  peak {:.3f} MB allocated, {:.3f} MB reserved", rank,
                       static_cast<double>(result.peaks.allocated) / kBytesPerMegabyte,
                       static_cast<double>(result.peaks.reserved) / kBytesPerMegabyte);
    std::map<std::string, std::pair<int, int>> by_mode;  // passed, all
    for (const Validation& validation : result.validations) {
      auto& [passed, all] = by_mode[validation.mode];
      passed += validation.passed ? 1 : 0;
      ++all;
    }
    for (const auto& [mode, counts] : by_mode) {
      out << fmt::format(", {}: {} of {} reads right", mode, counts.first, counts.second);
    }
    out << '\n';
  }
  write_profile(out, report);
}

}  // namespace interlace::engine
