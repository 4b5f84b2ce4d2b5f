#pragma once

#include <cstdint>
#include <string>

#include "simulator/check/program.hpp"

namespace interlace::check {

/// "i", "i+2", "i-1".
[[nodiscard]] std::string relative(std::int64_t batch, std::int64_t iteration);
/// "backward (dense)", with the module where the schedule names it.
[[nodiscard]] std::string name_of(const schedule::StageStep& step);
/// "embedding_lookup(i+1)": batch as seen from an iteration.
[[nodiscard]] std::string name_of(const schedule::StageStep& step, std::int64_t batch);
/// "embedding_lookup(i)", "the table update of backward(i)": batches as seen from an iteration.
[[nodiscard]] std::string name_of(const Program& program, const Operation& operation, std::int64_t iteration);
/// "kjt(i+1)", "tables".
[[nodiscard]] std::string name_of(const Program& program, const Datum& datum, std::int64_t iteration);
/// The line of the schedule file, or none where the schedule was made by hand.
[[nodiscard]] int line_of(const Program& program, const Operation& operation);
/// "line 12", or "step 4" of a schedule that was made by hand.
[[nodiscard]] std::string place_of(const schedule::PlacedStep& placed);

}  // namespace interlace::check
