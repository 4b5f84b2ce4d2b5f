#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/stages/profile.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

/// Counts stages.unmatched_rule for the rules of a profile that fit no call whatever the loop does, since a pattern of
/// theirs matches no annotation of the recording, and for its `backward` where that matches none. What a built-in
/// profile has word for word is left out: it names what only some versions and models annotate. (Without an
/// `iteration_end` that matches nothing can be cut: stages.no_iterations.)
void count_unmatched_rules(const trace::Trace& trace, const Profile& profile, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kUnmatchedRule{
    "stages.unmatched_rule", Severity::kWarning,
    "rules of the annotation profile, its \"backward\" among them, with a pattern that no annotation of the recording "
    "matches",
    "what they name is not found by them: compare the patterns with the names in the recording, or take the rules out"};

}  // namespace interlace::stages
