#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/located_json.hpp"

namespace interlace::schedule {

/// Takes the fields of one JSON object one by one; what is wrong with them is appended to `problems`, and at the end
/// finish() reports the fields that nobody took. `problems` and `object` must outlive it.
class JsonFields {
 public:
  /// who: the object in messages, e.g. `stage "backward"`.
  JsonFields(const LocatedJson::Object& object, int line, std::string who, std::vector<Problem>& problems);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] int line() const { return line_; }
  /// The line of the field, or that of the object where it has no such field.
  [[nodiscard]] int line_of(std::string_view key) const;

  /// None where the field is absent.
  [[nodiscard]] const LocatedJson* take(std::string_view key);
  /// These are none where the field is absent or is of another kind; the latter is a problem.
  [[nodiscard]] std::optional<std::string> take_string(std::string_view key);
  [[nodiscard]] std::optional<bool> take_bool(std::string_view key);
  [[nodiscard]] std::optional<std::int32_t> take_int(std::string_view key, std::int32_t low, std::int32_t high);
  /// A string, or an array of strings; empty where absent.
  [[nodiscard]] std::vector<std::string> take_strings(std::string_view key);
  /// The same for names: one that is empty is a problem, and left out.
  [[nodiscard]] std::vector<std::string> take_names(std::string_view key);

  void report(ErrorCode code, std::string_view key, const std::string& text);
  /// Reports fields that were not taken: `here` are the fields that such an object may have, `elsewhere` are words of
  /// the language that have no meaning here.
  void finish(std::span<const std::string_view> here, std::span<const std::string_view> elsewhere = {});

 private:
  template <class T>
  const T* take_as(std::string_view key, std::string_view wanted);

  const LocatedJson::Object& object_;
  int line_;
  std::string who_;
  std::vector<Problem>& problems_;
  std::vector<std::string_view> taken_;
};

}  // namespace interlace::schedule
