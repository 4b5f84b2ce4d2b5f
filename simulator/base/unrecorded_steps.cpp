#include "simulator/base/unrecorded_steps.hpp"

#include <charconv>

namespace interlace {

namespace {

constexpr std::string_view kPrefix = "unrecorded steps: ";
constexpr std::string_view kBetween = " in ";
constexpr std::string_view kUnit = " ns";

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool take(std::string_view& text, std::int64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string to_mark(const UnrecordedSteps& told) {
  std::string text(kPrefix);
  return text.append(std::to_string(told.steps)).append(kBetween).append(std::to_string(told.time)).append(kUnit);
}

std::optional<UnrecordedSteps> unrecorded_steps_of(std::string_view mark) {
  UnrecordedSteps told;
  const bool is_one =
      take(mark, kPrefix) && take(mark, told.steps) && take(mark, kBetween) && take(mark, told.time) && mark == kUnit;
  return is_one && told.steps > 0 && told.time > 0 ? std::optional(told) : std::nullopt;
}

}  // namespace interlace
