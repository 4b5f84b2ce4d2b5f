#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace interlace::report {

/// Text that grows by formatted pieces.
class Markup {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(values)...);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace interlace::report
