#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/stages/annotation_index.hpp"
#include "simulator/stages/profile.hpp"

namespace interlace::stages {

/// Names modules in the order in which they are first met.
class ModuleNames {
 public:
  ModuleId id(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// Finds the segment of a host call from the annotations around it, by the rules of a profile.
class Classifier {
 public:
  Classifier(const trace::Trace& trace, const Profile& profile, ModuleNames& modules);

  /// `loop` holds the annotations of the thread that runs the training loop; `own` those of the calling thread where
  /// that is another one.
  [[nodiscard]] std::optional<SegmentKey> classify(Nanoseconds t, const ThreadAnnotations& loop,
                                                   const ThreadAnnotations* own);
  [[nodiscard]] bool ends_iteration(trace::StringId name) { return patterns_.matches(iteration_end_, name); }
  [[nodiscard]] bool opens_backward(trace::StringId name);

 private:
  struct CompiledRule {
    const Rule* rule = nullptr;
    std::vector<std::size_t> within;
    std::vector<std::size_t> markers;
    std::optional<std::size_t> module;
  };
  [[nodiscard]] bool fits(const CompiledRule& rule, Nanoseconds t, const std::vector<AnnotationSpan>& stack,
                          const ThreadAnnotations& loop);
  [[nodiscard]] std::optional<ModuleId> module_of(const CompiledRule& rule, Nanoseconds t,
                                                  const std::vector<AnnotationSpan>& stack,
                                                  const ThreadAnnotations& loop);
  /// By how many ranges of its pattern have begun since the stage has.
  [[nodiscard]] std::optional<ModuleId> counted_module(const CompiledRule& rule, Nanoseconds t,
                                                       const std::vector<AnnotationSpan>& stack,
                                                       const ThreadAnnotations& loop);

  PatternCache patterns_;
  ModuleNames* modules_;
  std::vector<CompiledRule> rules_;
  std::size_t iteration_end_ = 0;
  std::optional<std::size_t> backward_;
};

}  // namespace interlace::stages
