#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/base/pattern.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

/// Tests each distinct range name against each pattern once. A pattern's group 1, where it has one, is its capture.
class PatternCache {
 public:
  explicit PatternCache(const trace::Trace& trace) : trace_(&trace) {}

  /// A number for the pattern, to ask with.
  std::size_t add(const std::string& pattern);
  [[nodiscard]] bool matches(std::size_t pattern, trace::StringId name);
  /// Empty where the pattern does not match or has no group.
  [[nodiscard]] std::string_view capture(std::size_t pattern, trace::StringId name);

 private:
  enum class Known : std::uint8_t { kNo, kYes, kUntested };
  struct Entry {
    std::string text;
    Pattern expression;
    std::vector<Known> known;  ///< by string id
    std::map<std::uint32_t, std::string> captures;
  };
  void test(Entry& entry, trace::StringId name);

  const trace::Trace* trace_;
  std::vector<Entry> entries_;
};

/// An annotation range as an instance in time.
struct AnnotationSpan {
  Interval span;
  trace::StringId name;
};

/// The annotation ranges of one host thread: by start, and which of them enclose a point in time.
class ThreadAnnotations {
 public:
  ThreadAnnotations(const trace::Trace& trace, trace::LaneId thread);

  [[nodiscard]] const std::vector<AnnotationSpan>& by_start() const { return spans_; }
  /// Outermost first.
  [[nodiscard]] std::vector<AnnotationSpan> enclosing(Nanoseconds t) const;

 private:
  std::vector<AnnotationSpan> spans_;
  std::vector<std::optional<std::size_t>> parents_;
};

}  // namespace interlace::stages
