#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace interlace {

/// The stable name of one way in which a request can fail, such as "kineto.truncated". Each is declared once, beside
/// the code that throws it, and listed in docs/errors.md.
struct ErrorCode {
  std::string_view name;
};

/// A request that cannot be carried out: bad input or an impossible wish. It says what is wrong, where, and what to do.
/// (A bug asserts instead; a flaw in data that still can be used is counted in Diagnostics.)
class Error : public std::runtime_error {
 public:
  /// place: a file, with line, byte or field where known; may be empty. advice: what to do; may be empty.
  Error(ErrorCode code, std::string place, std::string what_is_wrong, std::string advice = {});

  [[nodiscard]] std::string_view code() const { return code_.name; }
  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& advice() const { return advice_; }

 private:
  ErrorCode code_;
  std::string place_;
  std::string problem_;
  std::string advice_;
};

}  // namespace interlace
