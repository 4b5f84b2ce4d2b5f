#include "simulator/stages/classifier.hpp"

#include <algorithm>

namespace interlace::stages {

namespace {

/// How far ahead "the next range that ..." may lie: further than any stage, nearer than many iterations.
constexpr std::size_t kLookAhead = 512;

Nanoseconds span_begin(const AnnotationSpan& s) { return s.span.begin; }

}  // namespace

ModuleId ModuleNames::id(std::string_view name) {
  const auto found = std::ranges::find(names_, name);
  const ModuleId id{static_cast<std::uint32_t>(found - names_.begin())};
  if (found == names_.end()) names_.emplace_back(name);
  return id;
}

Classifier::Classifier(const trace::Trace& trace, const Profile& profile, ModuleNames& modules)
    : patterns_(trace), modules_(&modules), iteration_end_(patterns_.add(profile.iteration_end)) {
  if (!profile.backward.empty()) backward_ = patterns_.add(profile.backward);
  for (const Rule& rule : profile.rules) {
    CompiledRule compiled{&rule, {}, {}, {}};
    for (const std::string& text : rule.within) compiled.within.push_back(patterns_.add(text));
    for (const std::string& text : rule.markers) compiled.markers.push_back(patterns_.add(text));
    if (rule.module_from != ModuleFrom::kNone) compiled.module = patterns_.add(rule.module_pattern);
    rules_.push_back(std::move(compiled));
  }
}

bool Classifier::opens_backward(trace::StringId name) { return backward_ && patterns_.matches(*backward_, name); }

bool Classifier::fits(const CompiledRule& rule, Nanoseconds t, const std::vector<AnnotationSpan>& stack,
                      const ThreadAnnotations& loop) {
  const auto is_around = [&](std::size_t pattern) {
    return std::ranges::any_of(stack, [&](const AnnotationSpan& s) { return patterns_.matches(pattern, s.name); });
  };
  if (!std::ranges::all_of(rule.within, is_around)) return false;
  if (rule.markers.empty()) return true;
  const auto& spans = loop.by_start();
  auto at = std::ranges::lower_bound(spans, t, {}, span_begin);
  for (std::size_t step = 0; at != spans.end() && step < kLookAhead; ++at, ++step) {
    const auto marker =
        std::ranges::find_if(rule.markers, [&](std::size_t p) { return patterns_.matches(p, at->name); });
    if (marker != rule.markers.end()) return marker == rule.markers.begin();
  }
  return false;
}

std::optional<ModuleId> Classifier::module_of(const CompiledRule& rule, Nanoseconds t,
                                              const std::vector<AnnotationSpan>& stack, const ThreadAnnotations& loop) {
  const auto named = [&](const AnnotationSpan& s) -> std::optional<ModuleId> {
    const std::string_view name = patterns_.capture(*rule.module, s.name);
    return name.empty() ? std::nullopt : std::optional(modules_->id(name));
  };
  const auto& spans = loop.by_start();
  switch (rule.rule->module_from) {
    case ModuleFrom::kNone: return std::nullopt;
    case ModuleFrom::kEnclosing:
      for (const AnnotationSpan& s : stack) {
        if (const auto module = named(s)) return module;
      }
      return std::nullopt;
    case ModuleFrom::kNext: {
      for (const AnnotationSpan& s : stack) {
        if (const auto module = named(s)) return module;  // a range that is open ends next
      }
      auto at = std::ranges::lower_bound(spans, t, {}, span_begin);
      for (std::size_t step = 0; at != spans.end() && step < kLookAhead; ++at, ++step) {
        if (const auto module = named(*at)) return module;
      }
      return std::nullopt;
    }
    case ModuleFrom::kLast: {
      const auto after = std::ranges::upper_bound(spans, t, {}, span_begin);
      for (auto at = after; at != spans.begin();) {
        if (const auto module = named(*--at)) return module;
      }
      return std::nullopt;
    }
    case ModuleFrom::kCount: return counted_module(rule, t, stack, loop);
  }
  return std::nullopt;
}

std::optional<ModuleId> Classifier::counted_module(const CompiledRule& rule, Nanoseconds t,
                                                   const std::vector<AnnotationSpan>& stack,
                                                   const ThreadAnnotations& loop) {
  const auto is_stage = [&](const AnnotationSpan& s) {
    return std::ranges::any_of(rule.within, [&](std::size_t p) { return patterns_.matches(p, s.name); });
  };
  const auto stage = std::ranges::find_if(stack, is_stage);
  if (stage == stack.end()) return std::nullopt;
  const auto& spans = loop.by_start();
  auto at = std::ranges::lower_bound(spans, stage->span.begin, {}, span_begin);
  std::uint32_t seen = 0;
  for (; at != spans.end() && at->span.begin <= t; ++at) seen += patterns_.matches(*rule.module, at->name) ? 1 : 0;
  return seen == 0 ? std::nullopt : std::optional(ModuleId{seen - 1});
}

std::optional<SegmentKey> Classifier::classify(Nanoseconds t, const ThreadAnnotations& loop,
                                               const ThreadAnnotations* own) {
  std::vector<AnnotationSpan> stack = loop.enclosing(t);
  if (own != nullptr) std::ranges::copy(own->enclosing(t), std::back_inserter(stack));
  for (const CompiledRule& rule : rules_) {
    if (fits(rule, t, stack, loop)) {
      return SegmentKey{rule.rule->stage, rule.rule->piece, module_of(rule, t, stack, loop)};
    }
  }
  return std::nullopt;
}

}  // namespace interlace::stages
