#include "engine/report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

namespace interlace::engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMegabyte = 1e6;

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

// JSON has no NaN: such a loss is written as null.
Json loss_of(float loss) { return std::isfinite(loss) ? Json(static_cast<double>(loss)) : Json(nullptr); }

}  // namespace

void write_json(std::ostream& out, const RunReport& report) {
  Json json = {{"interlace_run", 1},
               {"workload", report.workload},
               {"schedule", report.schedule},
               {"device", report.device},
               {"seconds", seconds_of(report)}};
  json["losses"] = Json::array();
  for (const float loss : report.ranks.front().losses) json["losses"].push_back(loss_of(loss));
  json["tables"] = digest_of(report);
  json["ranks"] = Json::array();
  json["validations"] = Json::array();
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankResult& result = report.ranks[rank];
    json["ranks"].push_back(
        {{"peak_allocated_bytes", result.peaks.allocated}, {"peak_reserved_bytes", result.peaks.reserved}});
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
  if (steps > 0) out << fmt::format("\ntables  {}\n", digest_of(report));
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankResult& result = report.ranks[rank];
    out << fmt::format("rank {}  peak {:.3f} MB allocated, {:.3f} MB reserved", rank,
                       static_cast<double>(result.peaks.allocated) / kMegabyte,
                       static_cast<double>(result.peaks.reserved) / kMegabyte);
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
}

}  // namespace interlace::engine
