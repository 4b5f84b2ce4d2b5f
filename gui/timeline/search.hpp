#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kBadPattern{"gui.bad_pattern"};

/// Throws gui.bad_pattern where a search for it would.
void check_pattern(std::string_view pattern);

/// Operations whose names a search found, by start.
class SearchHits {
 public:
  SearchHits() = default;
  /// Pattern: a regular expression in RE2's syntax, searched in each name without regard to case. Empty: finds nothing.
  /// Each distinct name is tested once. Throws gui.bad_pattern.
  SearchHits(const trace::Trace& trace, std::string_view pattern);

  [[nodiscard]] const std::vector<trace::OperationId>& operations() const { return hits_; }
  [[nodiscard]] bool empty() const { return hits_.empty(); }
  /// Whether operations of this name are hits.
  [[nodiscard]] bool matches(trace::StringId name) const {
    return name.index() < matches_.size() && matches_[name.index()];
  }
  /// The hit behind `from` in time, and after the last one the first again; the first where `from` is none.
  [[nodiscard]] std::optional<trace::OperationId> next(std::optional<trace::OperationId> from) const;
  /// The hit before `from`, and before the first one the last; the last where `from` is none.
  [[nodiscard]] std::optional<trace::OperationId> previous(std::optional<trace::OperationId> from) const;
  /// From 1; 0 where it is no hit.
  [[nodiscard]] std::size_t number_of(trace::OperationId op) const;

 private:
  std::vector<trace::OperationId> hits_;
  std::vector<bool> matches_;  ///< by StringId
};

}  // namespace interlace::gui
