#include "gui/session/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/schedule/problem.hpp"

namespace interlace::gui {

namespace {

/// Each problem on a line of its own; place and code are those of all.
Failure failure_of_schedule(const schedule::InvalidSchedule& error, std::string title) {
  constexpr std::size_t kMost = 10;
  const std::vector<schedule::Problem>& problems = error.problems();
  std::vector<std::string> lines;
  std::vector<std::string_view> codes;
  for (const schedule::Problem& problem : problems) {
    const std::string line = problem.line > 0 ? fmt::format("Line {}: {}", problem.line, problem.text) : problem.text;
    if (lines.size() < kMost) lines.push_back(line);
    if (std::ranges::find(codes, problem.code.name) == codes.end()) codes.push_back(problem.code.name);
  }
  if (problems.size() > kMost) lines.push_back(fmt::format("and {} more", problems.size() - kMost));
  return {std::move(title), fmt::format("{}", fmt::join(lines, "\n")), error.source(), error.advice(),
          fmt::format("{}", fmt::join(codes, ", "))};
}

/// Options of the command line are of no use here.
std::string advice_here(const Error& error) {
  if (error.code() != replay::kStageNotRecorded.name) return error.advice();
  return "record a schedule that runs it; on the command line, edits can give its duration";
}

}  // namespace

Failure failure_of(std::exception_ptr caught, std::string title, std::string place) {
  try {
    std::rethrow_exception(std::move(caught));
  } catch (const schedule::InvalidSchedule& error) {
    return failure_of_schedule(error, std::move(title));
  } catch (const Error& error) {
    return {std::move(title), error.problem(), error.place(), advice_here(error), std::string(error.code())};
  } catch (const std::bad_alloc&) {
    return {std::move(title), "there is not enough memory", std::move(place),
            "open fewer ranks, or record a shorter span", ""};
  } catch (const std::exception& error) {
    return {std::move(title), error.what(), std::move(place), "", ""};
  }
}

std::string text_of(const Failure& failure) {
  std::string text = failure.problem;
  if (!failure.place.empty()) text += "\nWhere: " + failure.place;
  if (!failure.advice.empty()) text += "\nWhat to do: " + failure.advice;
  if (!failure.code.empty()) text += "\nCode: " + failure.code;
  return text;
}

}  // namespace interlace::gui
