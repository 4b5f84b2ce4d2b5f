#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "simulator/explain/explain.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

/// An explanation and what it is of.
struct ExplainAnswer {
  std::string measured;  ///< as the user named it
  std::string predicted;
  explain::Explanation explanation;
  std::vector<Diagnostic> of_measured;  ///< flaws of each trace, the gravest first
  std::vector<Diagnostic> of_predicted;
};

/// For people: what is wrong with the traces, what each cause adds, then the `at_most` largest parts and the rest in
/// one line.
void write_explain_table(std::ostream& out, const ExplainAnswer& answer, std::size_t at_most,
                         const report::TextStyle& style);
/// All parts; what lies behind them in full.
void write_explain_json(std::ostream& out, const ExplainAnswer& answer);

}  // namespace interlace::cli
