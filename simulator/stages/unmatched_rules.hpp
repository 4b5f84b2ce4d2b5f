#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/stages/profile.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

/// Counts stages.unmatched_rule for the rules of a profile that fit no call whatever the loop does, since a pattern of
/// theirs matches no annotation of the recording. Rules that a built-in profile has word for word are left out: these
/// name what only some versions and models annotate.
void count_unmatched_rules(const trace::Trace& trace, const Profile& profile, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kUnmatchedRule{
    "stages.unmatched_rule", Severity::kWarning,
    "rules of the annotation profile with a pattern that no annotation of the recording matches",
    "their stages are not found by them: compare the patterns with the names in the recording, or take the rules out"};

}  // namespace interlace::stages
