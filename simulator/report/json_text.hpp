#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "simulator/analysis/overlap.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// Keys in the order in which they are written.
using Json = nlohmann::ordered_json;

/// null for none.
template <class T>
[[nodiscard]] Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

[[nodiscard]] Json json_of(const analysis::OverlapSummary& overlap);
/// [{"code", "severity", "count", "meaning", "advice", "first_place"}]
[[nodiscard]] Json json_of(std::span<const Diagnostic> diagnostics);
[[nodiscard]] Json json_of(const RecordedRun& recorded);
/// [{"schedule", "why"}]
[[nodiscard]] Json json_of(std::span<const SkippedSchedule> skipped);
/// Indented text with a newline at the end. Bytes of names that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const Json& json);

}  // namespace interlace::report
