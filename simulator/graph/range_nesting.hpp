#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// Which function a host operation was called from, told by the annotations and operators (kRange of kind kAnnotation
/// or kCpuOp) that were open on its thread. Python frames are left out: they name lines, not functions.
///
/// One sweep a thread; O(n).
class RangeNesting {
 public:
  explicit RangeNesting(const trace::Trace& trace);

  /// The innermost range open when `op` began; a range does not hold itself. None outside all ranges and for streams.
  [[nodiscard]] std::optional<trace::OperationId> enclosing(trace::OperationId op) const;
  /// The outermost range that holds `op`.
  [[nodiscard]] std::optional<trace::OperationId> outermost(trace::OperationId op) const;

 private:
  static constexpr std::uint32_t kOutside = UINT32_MAX;
  std::vector<std::uint32_t> enclosing_;
};

/// The number of a call site: calls from the same nest of functions share it, whatever the step.
using SiteId = Id<struct SiteTag>;

/// Names call sites. Numbers in range names are ignored ("## forward 28 ##" and "## forward 29 ##" are one site), and
/// so is everything above the four innermost ranges.
class SiteTable {
 public:
  SiteTable(const trace::Trace& trace, const RangeNesting& nesting);

  [[nodiscard]] SiteId site_of(trace::OperationId op);
  /// The names of a site, outermost first, with # for numbers; empty outside all ranges.
  [[nodiscard]] const std::vector<std::string>& names(SiteId site) const { return names_[site.index()]; }

 private:
  const trace::Trace& trace_;
  const RangeNesting& nesting_;
  std::vector<std::vector<std::string>> names_;
  std::vector<std::optional<SiteId>> of_range_;  ///< by operation; filled on demand
  std::optional<SiteId> outside_;

  SiteId intern(std::vector<std::string> names);
  std::unordered_map<std::string, SiteId> ids_;
};

}  // namespace interlace::graph
