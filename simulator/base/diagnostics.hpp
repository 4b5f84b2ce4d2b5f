#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace interlace {

/// How much a flaw in the data matters.
enum class Severity : std::uint8_t {
  kInfo,      ///< something was repaired or inferred; results are sound
  kWarning,   ///< results may be off
  kDataLoss,  ///< something that happened is not in the data
};

[[nodiscard]] std::string_view to_string(Severity severity);

/// One kind of flaw, declared once beside the code that counts it. `code` is stable ("kineto.wait_without_record"),
/// `meaning` says what was found, `advice` what the user can do about it.
struct DiagnosticKind {
  std::string_view code;
  Severity severity;
  std::string_view meaning;
  std::string_view advice;
};

/// One kind of flaw as found: how often, and the first place where.
struct Diagnostic {
  std::string code;
  Severity severity = Severity::kInfo;
  std::string meaning;
  std::string advice;
  std::int64_t count = 0;
  std::string first_place;

  bool operator==(const Diagnostic&) const = default;
};

/// Counts what was missing, repaired or inferred. It travels beside a Trace and is shown to the user: nothing is ever
/// dropped in silence. Entries keep the order in which their kinds were first met.
class Diagnostics {
 public:
  void count(const DiagnosticKind& kind, std::string_view place = {}, std::int64_t times = 1);
  void add(const Diagnostic& found);
  void merge(const Diagnostics& other);

  [[nodiscard]] const std::vector<Diagnostic>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// How often the kind with this code was counted; 0 where it was not.
  [[nodiscard]] std::int64_t count_of(std::string_view code) const;

 private:
  std::vector<Diagnostic> entries_;
};

}  // namespace interlace
