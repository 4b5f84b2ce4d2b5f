#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gui/compare/aligned.hpp"
#include "gui/compare/difference.hpp"
#include "gui/compare/match.hpp"

namespace interlace::gui {

/// A recording and a prediction with one step of each taken for the same.
class Comparison {
 public:
  /// Nothing is compared.
  Comparison() = default;
  /// offset: of the steps that train the same batch, behind the middle one of each (see step_at). by, anchors: what is
  /// laid beside each other (see aligned).
  Comparison(const Run& measured, const Run& predicted, std::ptrdiff_t offset, AlignBy by = AlignBy::kStep,
             const std::array<Nanoseconds, kSides>& anchors = {});

  /// Whether both traces tell what their steps train, so that work can be matched.
  [[nodiscard]] bool known() const { return matching_.size() > 0; }
  [[nodiscard]] const Matching& matching() const { return matching_; }
  [[nodiscard]] const std::vector<Lead>& leads() const { return leads_; }
  /// Where the prediction wins time and loses some, by stage (won_by_stage), as far as it is a thousandth of the step.
  /// Only where steps are laid beside each other: a lead since anything else is not what a step gets shorter.
  [[nodiscard]] const std::vector<std::pair<std::string, Nanoseconds>>& won() const { return won_; }

 private:
  Matching matching_;
  std::vector<Lead> leads_;
  std::vector<std::pair<std::string, Nanoseconds>> won_;
};

}  // namespace interlace::gui
