#pragma once

#include <span>

#include "simulator/base/error.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/what_if/edit.hpp"

namespace interlace::what_if {

inline constexpr ErrorCode kNoMatch{"what_if.no_match"};
inline constexpr ErrorCode kCannotCapture{"what_if.cannot_capture"};

/// The job as it would be with these edits, one after the other: each changes what those before it left.
/// Throws Error(what_if.no_match), naming the edit, where one concerns nothing in the table, and
/// Error(what_if.cannot_capture) where a stage that is to be captured blocks the host, and Error(what_if.bad_edit)
/// where edits together make a step take more than eleven days.
[[nodiscard]] replay::SiteTable apply_edits(replay::SiteTable table, std::span<const Edit> edits);

/// Throws Error(what_if.no_match), naming the edit, where one is of a stage that none of these schedules runs.
void refuse_idle_edits(std::span<const Edit> edits, std::span<const schedule::Schedule* const> schedules);

}  // namespace interlace::what_if
