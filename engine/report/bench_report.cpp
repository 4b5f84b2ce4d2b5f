#include "engine/report/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <stdexcept>

#include "engine/report/units.hpp"

namespace interlace::engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMedian = 0.5;
constexpr double kHigh = 0.9;

std::vector<double> milliseconds(const BenchLine& line) {
  std::vector<double> values;
  for (const BenchRun& run : line.runs) values.push_back(run.seconds / kSecondsPerMillisecond);
  return values;
}

// The mean step of each run, but for the first timed one, which begins with an idle device. No median: a few batches
// come in turn, and of steps that differ by batch it shows one.
std::vector<double> steady_steps(const BenchLine& line) {
  std::vector<double> means;
  for (const BenchRun& run : line.runs) {
    const auto first = run.step_ms.begin() + (run.step_ms.size() > 1 ? 1 : 0);
    means.push_back(std::accumulate(first, run.step_ms.end(), 0.0) / static_cast<double>(run.step_ms.end() - first));
  }
  return means;
}

double high_bytes(const BenchLine& line, std::int64_t BenchRun::*member) {
  std::vector<double> values;
  for (const BenchRun& run : line.runs) values.push_back(static_cast<double>(run.*member));
  return quantile(std::move(values), kHigh);
}

const BenchRun& first_run(const BenchReport& report) {
  const auto found = std::ranges::find_if(report.lines, [](const BenchLine& line) { return !line.runs.empty(); });
  assert(found != report.lines.end());
  return found->runs.front();
}

// Throws what JSON and vectors throw where it is something else.
BenchRun read_run(const std::string& json) {
  const Json parsed = Json::parse(json);
  BenchRun run{.seconds = parsed.at("seconds").get<double>(),
               .allocated = 0,
               .reserved = 0,
               .losses = {},
               .tables = parsed.at("tables").get<std::string>()};
  const auto warmup = parsed.at("warmup").get<std::size_t>();
  const auto timed = parsed.at("timed_steps").get<std::size_t>();
  const auto steps = parsed.at("ranks").at(0).at("step_ms").get<std::vector<double>>();
  for (std::size_t step = warmup; step < warmup + timed; ++step) run.step_ms.push_back(steps.at(step));
  run.settings = parsed.at("settings").get<std::map<std::string, std::string>>();
  for (const Json& rank : parsed.at("ranks")) {
    run.allocated = std::max(run.allocated, rank.at("peak_allocated_bytes").get<std::int64_t>());
    run.reserved = std::max(run.reserved, rank.at("peak_reserved_bytes").get<std::int64_t>());
  }
  for (const Json& loss : parsed.at("losses")) {
    run.losses.push_back(loss.is_null() ? std::nullopt : std::optional(loss.get<double>()));
  }
  for (const Json& validation : parsed.at("validations"))
    run.wrong_reads += validation.at("passed").get<bool>() ? 0 : 1;
  return run;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  assert(!values.empty() && share > 0.0 && share <= 1.0);
  std::ranges::sort(values);
  // 0.9 of 10 is the 9th, though 0.9 * 10 is a little more than 9 in floating point.
  const double rank = std::ceil(share * static_cast<double>(values.size()) - 1e-9);
  return values[static_cast<std::size_t>(rank) - 1];
}

bool repeatable(const BenchLine& line) {
  return std::ranges::all_of(line.runs, [&](const BenchRun& run) {
    return run.tables == line.runs.front().tables && run.losses == line.runs.front().losses;
  });
}

std::int64_t wrong_reads(const BenchLine& line) {
  std::int64_t wrong = 0;
  for (const BenchRun& run : line.runs) wrong += run.wrong_reads;
  return wrong;
}

void take_run(BenchLine& line, const std::string& json) {
  const auto refuse = [&](const std::exception& error) {
    line.failure = std::string("wrote no report of a run: ") + error.what();
  };
  try {
    line.runs.push_back(read_run(json));
  } catch (const Json::exception& error) {
    refuse(error);
  } catch (const std::out_of_range& error) {
    refuse(error);
  }
}

void write_json(std::ostream& out, const BenchReport& report) {
  Json json = {{"interlace_bench", 1}, {"workload", report.workload}, {"device", report.device}};
  json["steps"] = report.steps;
  json["warmup"] = report.warmup;
  json["settings"] = first_run(report).settings;
  json["schedules"] = Json::array();
  for (const BenchLine& line : report.lines) {
    Json of_line = {{"schedule", line.schedule}};
    if (!line.failure.empty()) of_line["failed"] = line.failure;
    if (!line.runs.empty()) {
      const std::vector<double> times = milliseconds(line);
      of_line.update({{"runtime_ms", times},
                      {"runtime_ms_p50", quantile(times, kMedian)},
                      {"step_ms_p50", quantile(times, kMedian) / static_cast<double>(report.steps)},
                      {"steady_step_ms", steady_steps(line)},
                      {"runtime_ms_p90", quantile(times, kHigh)},
                      {"peak_allocated_bytes_p90", static_cast<std::int64_t>(high_bytes(line, &BenchRun::allocated))},
                      {"peak_reserved_bytes_p90", static_cast<std::int64_t>(high_bytes(line, &BenchRun::reserved))},
                      {"repeatable", repeatable(line)},
                      {"wrong_reads", wrong_reads(line)}});
    }
    json["schedules"].push_back(std::move(of_line));
  }
  out << json.dump(2) << '\n';
}

void write_table(std::ostream& out, const BenchReport& report) {
  std::size_t width = std::string_view("schedule").size();
  for (const BenchLine& line : report.lines) width = std::max(width, line.schedule.size());
  std::size_t runs = 0;
  for (const BenchLine& line : report.lines) runs = std::max(runs, line.runs.size());
  out << fmt::format("{} on {}, {} runs each of {} steps after {} to warm up\n\n", report.workload, report.device, runs,
                     report.steps, report.warmup);
  out << fmt::format("{:<{}}  {:>12}  {:>12}  {:>12}  {:>21}  {:>14}  {:>13}\n", "schedule", width, "P50 a step",
                     "P50 ms", "P90 ms", "least to most ms", "P90 alloc. MB", "P90 res. MB");
  for (const BenchLine& line : report.lines) {
    if (line.runs.empty()) {
      out << fmt::format("{:<{}}  {}\n", line.schedule, width, line.failure);
      continue;
    }
    const std::vector<double> times = milliseconds(line);
    const auto [least, most] = std::ranges::minmax(times);
    out << fmt::format("{:<{}}  {:>12.3f}  {:>12.2f}  {:>12.2f}  {:>21}  {:>14.3f}  {:>13.3f}{}{}{}\n", line.schedule,
                       width, quantile(times, kMedian) / static_cast<double>(report.steps), quantile(times, kMedian),
                       quantile(times, kHigh), fmt::format("{:.2f} to {:.2f}", least, most),
                       high_bytes(line, &BenchRun::allocated) / kBytesPerMegabyte,
                       high_bytes(line, &BenchRun::reserved) / kBytesPerMegabyte,
                       repeatable(line) ? "" : "  runs differ in their numbers",
                       wrong_reads(line) == 0 ? "" : fmt::format("  {} reads of wrong data", wrong_reads(line)),
                       line.failure.empty() ? "" : fmt::format("  run {} {}", line.runs.size() + 1, line.failure));
  }
}

}  // namespace interlace::engine
