#include "simulator/what_if/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

namespace interlace::what_if {

namespace {

constexpr const char* kMark = "mark the one to vary with \"swept\": true (docs/sweep.md)";
constexpr std::size_t kMostValues = 1000;

bool has_number(const Edit& edit) {
  return std::visit(
      [](const auto& change) {
        return requires { change.by; }
        || requires { change.takes; };
      },
      edit.change);
}

/// Positions of the edits that this holds for.
template <class Holds>
std::vector<std::size_t> where(const std::vector<Edit>& edits, Holds holds) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (holds(edits[i])) found.push_back(i);
  }
  return found;
}

[[noreturn]] void refuse_several(const std::vector<Edit>& edits, const std::vector<std::size_t>& which,
                                 std::string_view what, const char* advice) {
  std::vector<std::string> words;
  for (const std::size_t i : which) words.push_back(describe(edits[i]));
  throw Error(kUnclearSweep, edits[which[1]].place,
              fmt::format("{} edits {}: {}", which.size(), what, fmt::join(words, "; ")), advice);
}

std::size_t swept_of(const std::vector<Edit>& edits) {
  const std::vector<std::size_t> marked = where(edits, [](const Edit& edit) { return edit.swept; });
  if (marked.size() > 1) refuse_several(edits, marked, "are marked as swept", "mark one");
  if (!marked.empty()) return marked.front();
  const std::vector<std::size_t> numbered = where(edits, has_number);
  if (numbered.size() > 1) refuse_several(edits, numbered, "have a number that could be swept", kMark);
  if (numbered.empty()) {
    throw Error(kUnclearSweep, edits.front().place, "no edit has a number to vary",
                "add one with \"by\" or \"takes_us\" (docs/edits.md)");
  }
  return numbered.front();
}

[[noreturn]] void refuse_values(std::string_view word, const std::string& problem) {
  throw Error(kBadSweep, "--by", fmt::format("\"{}\" {}", word, problem),
              "give numbers like 0.5,1,2 or a first, a last and how many like 0.25:4:5");
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

double value_of(std::string_view word, SweptUnit unit) {
  const double most = unit == SweptUnit::kTimes ? kMostTimes : kMostMicroseconds;
  double value = 0;
  const auto [read, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_number = failure == std::errc() && read == word.data() + word.size();
  if (!is_number || !(value > 0 && value <= most)) {
    refuse_values(word, fmt::format("is no number above 0 and at most {:.0f}", most));
  }
  return value;
}

/// Short enough to be read, and to be given again.
double to_four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

void add_range(std::string_view word, SweptUnit unit, std::vector<double>& values) {
  const std::vector<std::string_view> parts = split(word, ':');
  if (parts.size() != 3) refuse_values(word, "is neither a number nor a first, a last and how many");
  const double from = value_of(parts[0], unit);
  const double to = value_of(parts[1], unit);
  std::size_t count = 0;
  const char* const end = parts[2].data() + parts[2].size();
  const auto [read, failure] = std::from_chars(parts[2].data(), end, count);
  if (failure != std::errc() || read != end || count < 2 || count > kMostValues) {
    refuse_values(parts[2], fmt::format("is no count of values from 2 to {}", kMostValues));
  }
  values.push_back(from);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    const bool ratios = unit == SweptUnit::kTimes;
    values.push_back(to_four_digits(ratios ? from * std::pow(to / from, part) : std::lerp(from, to, part)));
  }
  values.push_back(to);
}

}  // namespace

Sweep::Sweep(std::vector<Edit> edits) : edits_(std::move(edits)), which_(swept_of(edits_)) {}

std::vector<Edit> Sweep::at(double value) const {
  std::vector<Edit> edits = edits_;
  std::visit(
      [&](auto& change) {
        if constexpr (requires { change.by; }) {
          change.by = value;
        } else if constexpr (requires { change.takes; }) {
          const double ns = value * static_cast<double>(kMicrosecond);
          change.takes = std::max<Nanoseconds>(1, std::llround(ns));
        }
      },
      edits[which_].change);
  return edits;
}

std::vector<Edit> Sweep::others() const {
  std::vector<Edit> edits = edits_;
  edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(which_));
  return edits;
}

SweptUnit Sweep::unit() const {
  return std::holds_alternative<AddWork>(swept().change) ? SweptUnit::kMicroseconds : SweptUnit::kTimes;
}

double Sweep::usual() const {
  const auto* given = std::get_if<AddWork>(&swept().change);
  return given == nullptr ? 1.0 : static_cast<double>(given->takes) / static_cast<double>(kMicrosecond);
}

std::vector<double> sweep_values(std::string_view list, SweptUnit unit) {
  std::vector<double> values;
  for (const std::string_view word : split(list, ',')) {
    if (word.find(':') != std::string_view::npos) {
      add_range(word, unit, values);
    } else {
      values.push_back(value_of(word, unit));
    }
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() > kMostValues) refuse_values(list, fmt::format("is of more than {} values", kMostValues));
  return values;
}

}  // namespace interlace::what_if
