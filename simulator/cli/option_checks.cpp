#include "simulator/cli/option_checks.hpp"

#include <fmt/format.h>

#include <charconv>
namespace interlace::cli {

CLI::Validator whole_number(std::uint64_t most) {
  CLI::Validator validator;
  validator.operation([most](const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [read, failure] = std::from_chars(text.data(), end, value);
    const bool good = failure == std::errc() && read == end && value <= most;
    return good ? std::string() : fmt::format("\"{}\" is no whole number from 0 to {}", text, most);
  });
  return validator;
}

CLI::Validator positive(const std::string& what, double most) {
  CLI::Validator validator;
  validator.operation([what, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= most;  // NaN is neither
    return good ? std::string() : fmt::format("\"{}\" is no positive {}", text, what);
  });
  return validator;
}

}  // namespace interlace::cli
