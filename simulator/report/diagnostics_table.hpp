#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

/// The data-quality panel: one paragraph a flaw with severity, count, code, meaning, first place and advice; data loss
/// first, then warnings, then information. Says so where there is none.
void write_diagnostics(std::ostream& out, std::span<const Diagnostic> diagnostics, const TextStyle& style);

/// How many kinds there are: "data quality: 1 data loss, 2 warnings, 3 info". Empty text without diagnostics.
[[nodiscard]] std::string diagnostics_summary(std::span<const Diagnostic> diagnostics);

/// "device work in no known stage (stages.outside_any_stage x 10, first: cudaDeviceSynchronize)"; of one that was met
/// once without "x 1", of one without a place without "first".
[[nodiscard]] std::string flaw_text(const Diagnostic& found);

/// What may shift an answer, the gravest first, a text each: "beware: ranks of the job whose recordings were not given
/// (ingest.missing_ranks x 2) -> name the recordings of all ranks". Information is left out.
[[nodiscard]] std::vector<std::string> flaws_in_full(std::span<const Diagnostic> diagnostics);

/// The same diagnostics, the gravest first, else in their order.
[[nodiscard]] std::vector<Diagnostic> gravest_first(std::span<const Diagnostic> diagnostics);

}  // namespace interlace::report
