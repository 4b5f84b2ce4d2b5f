#include "simulator/schedule/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

namespace interlace::schedule {

namespace {

std::string place_of(const std::string& source, const Problem& problem) {
  return problem.line > 0 ? fmt::format("{}:{}", source, problem.line) : source;
}

std::vector<Problem> by_line(std::vector<Problem> problems) {
  assert(!problems.empty());
  std::ranges::stable_sort(problems, {}, &Problem::line);
  return problems;
}

std::string all_of(const std::string& source, const std::vector<Problem>& problems) {
  std::string text = problems.front().text;
  for (const Problem& problem : std::span(problems).subspan(1)) {
    text += fmt::format("\nerror[{}]: {}: {}", problem.code.name, place_of(source, problem), problem.text);
  }
  return text;
}

}  // namespace

InvalidSchedule::InvalidSchedule(const std::string& source, std::vector<Problem> problems)
    : Error(by_line(problems).front().code, place_of(source, by_line(problems).front()),
            all_of(source, by_line(problems))),
      source_(source),
      problems_(by_line(std::move(problems))) {}

}  // namespace interlace::schedule
