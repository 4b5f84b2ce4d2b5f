#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulator/schedule/problem.hpp"

namespace interlace::schedule {

/// A JSON value that knows the line on which it begins, so that an error can name it.
struct LocatedJson {
  struct Member;
  using Array = std::vector<LocatedJson>;
  using Object = std::vector<Member>;  ///< in the order of the text; keys may repeat

  int line = 1;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value;

  template <class T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&value);
  }
};

struct LocatedJson::Member {
  std::string key;
  int line = 1;  ///< of the key
  LocatedJson value;
};

/// What a value is, for messages: "a number", "an object" ...
[[nodiscard]] std::string_view kind_of(const LocatedJson& json);

/// Reads one JSON document. None where it is malformed or nested deeper than 32, with one schedule.syntax problem
/// appended that names the line.
[[nodiscard]] std::optional<LocatedJson> read_located_json(std::string_view text, std::vector<Problem>& problems);

}  // namespace interlace::schedule
