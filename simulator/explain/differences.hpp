#pragma once

#include <compare>
#include <map>
#include <span>
#include <string>

#include "simulator/explain/explain.hpp"
#include "simulator/explain/step_paths.hpp"

namespace interlace::explain {

/// What a part of the difference is about.
struct PartKey {
  Cause cause = Cause::kDurations;
  std::string stage;
  std::string of_stage;
  std::string operation;

  auto operator<=>(const PartKey&) const = default;
};
using PartTimes = std::map<PartKey, double>;

/// How the paths of two steps differ, as explain() says.
class PathDifference {
 public:
  /// `measured_times`, `predicted_times`: by NameId. All must outlive it.
  PathDifference(const WorkNames& names, std::span<const NameTimes> measured_times,
                 std::span<const NameTimes> predicted_times)
      : names_(&names), measured_times_(measured_times), predicted_times_(predicted_times) {}

  /// Adds the parts times `weight`; their sum is the difference of the lengths of the paths times `weight`.
  void add(const StepPath& measured, const StepPath& predicted, double weight, PartTimes& parts) const;

 private:
  using Way = std::span<const PathElement>;  ///< between two works that both paths have in common

  void add_common(const PathElement& measured, const PathElement& predicted, double weight, PartTimes& parts) const;
  /// `*_end`: where the ways meet again; null at the end of the step.
  void add_ways(Way measured, Way predicted, const PathElement* measured_end, const PathElement* predicted_end,
                double weight, PartTimes& parts) const;
  double add_growth(Way way, std::span<const NameTimes> here, std::span<const NameTimes> there, double at_most,
                    double weight, PartTimes& parts) const;
  [[nodiscard]] const std::string& stage(const PathElement& element) const { return (*names_)[element.name].stage; }
  [[nodiscard]] const std::string& operation(const PathElement& element) const {
    return (*names_)[element.name].operation;
  }

  const WorkNames* names_;
  std::span<const NameTimes> measured_times_;
  std::span<const NameTimes> predicted_times_;
};

}  // namespace interlace::explain
