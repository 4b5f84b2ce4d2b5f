#include "simulator/base/error.hpp"

#include <utility>

namespace interlace {

namespace {

std::string one_line(ErrorCode code, const std::string& place, const std::string& problem, const std::string& advice) {
  std::string text = "error[" + std::string(code.name) + "]: ";
  if (!place.empty()) text += place + ": ";
  text += problem;
  if (!advice.empty()) text += " (" + advice + ")";
  return text;
}

}  // namespace

Error::Error(ErrorCode code, std::string place, std::string what_is_wrong, std::string advice)
    : std::runtime_error(one_line(code, place, what_is_wrong, advice)),
      code_(code),
      place_(std::move(place)),
      problem_(std::move(what_is_wrong)),
      advice_(std::move(advice)) {}

}  // namespace interlace
