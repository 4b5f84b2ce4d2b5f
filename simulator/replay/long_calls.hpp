#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// Calls that launch work count for no more host time than stages::own_time() says. Where what that leaves out comes to
/// more than a few percent of a rank's recorded time, counts the calls concerned.
void count_long_calls(const trace::Trace& trace, const stages::Cut& cut, const SiteTable& table,
                      Diagnostics& diagnostics);

inline constexpr DiagnosticKind kLongCalls{
    "replay.long_calls", Severity::kWarning,
    "calls that launch work took more than 40 us each, in all more than 3 % of a rank's recorded time; the rest "
    "is taken for waiting, and not replayed",
    "where the host did work in them, predictions are too fast: see what the calls did (a full queue of launches makes "
    "them wait for the device)"};

}  // namespace interlace::replay
