#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>

#include "simulator/cli/explain_output.hpp"
#include "simulator/cli/paragraph.hpp"

namespace interlace::cli {

namespace {

using explain::Cause;
using report::Align;
using report::Colour;
using report::TextTable;

constexpr Margin kBesideFigures{.indent = 0, .width = 11};  ///< of the steps at the top
constexpr std::size_t kMostHidden = 5;
constexpr Nanoseconds kLeastShown = 5 * kMicrosecond;  // less reads as 0.00 ms

std::string signed_ms(Nanoseconds time) { return fmt::format("{:+.2f}", static_cast<double>(time) / 1e6); }

std::string or_unknown(const std::string& stage) { return stage.empty() ? "no known stage" : stage; }

/// A kernel's name without its namespaces, which tell less than its end.
std::string work_text(const std::string& operation) {
  const std::string name = report::short_kernel_name(operation);
  const std::size_t arguments = name.find('<');
  const std::size_t colons = name.rfind("::", arguments);
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

/// What a cause means.
std::string_view meaning(Cause cause) {
  switch (cause) {
    case Cause::kDurations: return "works on the critical path take longer or less";
    case Cause::kWaits: return "work of another stream or rank is waited for";
    case Cause::kHost: return "the host launches later or sooner";
    case Cause::kOrder: return "other work stands in front on the same stream";
    case Cause::kStart: return "work starts later or sooner after what it waited for";
    case Cause::kUnexplained: return "nothing recorded says why";
  }
  return {};
}

std::string part_text(const explain::Part& part) {
  const std::string stage = or_unknown(part.stage);
  const std::string of = or_unknown(part.of_stage);
  const std::string work = part.operation.empty() ? "the host" : work_text(part.operation);
  switch (part.cause) {
    case Cause::kDurations: return fmt::format("{}: {}", stage, work);
    case Cause::kWaits: return fmt::format("{} waits for {}: {}", stage, of, work);
    case Cause::kHost:
      return part.operation.empty() ? fmt::format("the host in {}", of)
                                    : fmt::format("the host, before {} of {}", work, of);
    case Cause::kOrder:
      return part.stage == part.of_stage ? fmt::format("in {}: {}", of, work)
                                         : fmt::format("{} comes behind {}: {}", stage, of, work);
    case Cause::kStart:
    case Cause::kUnexplained: return fmt::format("before {} of {}", work, of);
  }
  return {};
}

class ExplainWriter {
 public:
  ExplainWriter(std::ostream& out, const report::TextStyle& style) : out_(out), style_(style) {}

  void head(const ExplainAnswer& answer) {
    const explain::Explanation& explanation = answer.explanation;
    const double ratio = static_cast<double>(explanation.difference_ns()) /
                         static_cast<double>(std::max<Nanoseconds>(1, explanation.measured_step_ns));
    step("measured ", explanation.measured_step_ns, explanation.measured_steps, explanation.all_measured_steps,
         answer.measured);
    step("predicted", explanation.predicted_step_ns, explanation.predicted_steps, explanation.all_predicted_steps,
         answer.predicted);
    out_ << fmt::format("difference {:>8} ms, {:+.2f} %\n", signed_ms(explanation.difference_ns()), ratio * 100);
    write_flaws(out_, "measured trace: ", answer.of_measured, style_, kBesideFigures);
    write_flaws(out_, "predicted trace: ", answer.of_predicted, style_, kBesideFigures);
    out_ << '\n';
  }

  void causes(const explain::Explanation& explanation) {
    if (explanation.parts.empty()) {
      out_ << "nothing differs along the critical path\n\n";
      return;
    }
    TextTable table({{"cause"}, {"ms", Align::kRight}, {"what it is"}});
    for (std::size_t i = 0; i < explain::kCauses; ++i) {
      const auto cause = static_cast<Cause>(i);
      const Nanoseconds effect = explanation.of(cause);
      if (effect == 0) continue;
      table.add({std::string(to_string(cause)), signed_ms(effect), std::string(meaning(cause))});
    }
    table.add({"sum", signed_ms(explanation.difference_ns()), ""});
    print("causes, along the critical path", table);
  }

  void parts(const explain::Explanation& explanation, std::size_t at_most) {
    if (explanation.parts.empty()) return;
    TextTable table({{"ms", Align::kRight}, {"cause"}, {"where"}});
    Nanoseconds rest = explanation.difference_ns();
    std::size_t shown = 0;
    for (const explain::Part& part : explanation.parts) {
      if (shown == at_most || std::abs(part.effect_ns) < kLeastShown) break;
      table.add({signed_ms(part.effect_ns), std::string(to_string(part.cause)),
                 report::shortened(part_text(part), style_.width - 28)});
      rest -= part.effect_ns;
      ++shown;
    }
    const std::size_t left = explanation.parts.size() - shown;
    if (left > 0) table.add({signed_ms(rest), "", fmt::format("{} smaller ones", left)});
    print("largest first", table);
  }

  void matching(const explain::Matching& matching) {
    paragraph(
        fmt::format("{:.0f} of {:.0f} measured device works a step have a counterpart, {:.0f} of {:.0f} predicted",
                    matching.matched_measured, matching.measured, matching.matched_predicted, matching.predicted));
    std::size_t shown = 0;
    for (const explain::Unmatched& row : matching.unmatched) {
      if (shown++ == kMostHidden) break;
      out_ << fmt::format(
          "  only {}: {}\n", row.measured ? "measured" : "predicted",
          report::shortened(fmt::format("{:.1f} a step, {} ms, {}: {}", row.works, report::milliseconds(row.time_ns),
                                        or_unknown(row.stage), work_text(row.operation)),
                            style_.width - 20));
    }
    if (matching.unmatched.size() > kMostHidden) {
      write_paragraph(out_, "",
                      fmt::format("and {} more names that only one of them has (--format json)",
                                  matching.unmatched.size() - kMostHidden),
                      style_, {.indent = kIndent, .width = 0});
    }
    uneven(matching.uneven);
    for (const explain::Moved& row : matching.moved) {
      if (row.time_ns < kLeastShown) continue;
      write_paragraph(out_, "",
                      fmt::format("in another order on their stream: {:.1f} works of {}, {} ms", row.works,
                                  or_unknown(row.stage), report::milliseconds(row.time_ns)),
                      style_, {.indent = kIndent, .width = 0});
    }
    out_ << '\n';
  }

  void operations(const explain::Matching& matching) {
    TextTable table({{"measured", Align::kRight}, {"predicted", Align::kRight}, {"ms", Align::kRight}, {"work"}});
    std::size_t shown = 0;
    for (const explain::OperationTimes& row : matching.operations) {
      if (shown++ == kMostHidden || std::abs(row.predicted_ns - row.measured_ns) < kLeastShown) break;
      table.add({report::milliseconds(row.measured_ns), report::milliseconds(row.predicted_ns),
                 signed_ms(row.predicted_ns - row.measured_ns),
                 report::shortened(fmt::format("{}: {}", or_unknown(row.stage), work_text(row.operation)),
                                   style_.width - 36)});
    }
    if (shown > 0) print("works whose time differs most, on the critical path or hidden", table);
  }

 private:
  void uneven(std::span<const explain::Uneven> rows) {
    for (const explain::Uneven& row : rows.first(std::min(rows.size(), kMostHidden))) {
      write_paragraph(out_, "",
                      fmt::format("in other numbers: {:.1f} works of {} a step measured, {:.1f} predicted",
                                  row.measured, or_unknown(row.stage), row.predicted),
                      style_, {.indent = kIndent, .width = 0});
    }
    if (rows.size() <= kMostHidden) return;
    const auto further = static_cast<std::int64_t>(rows.size() - kMostHidden);
    write_paragraph(out_, "", fmt::format("and {} more (--format json)", report::counted(further, "stage")), style_,
                    {.indent = kIndent, .width = 0});
  }
  void step(std::string_view whose, Nanoseconds time, std::size_t steps, std::size_t all, const std::string& source) {
    const std::string part = steps == all ? "" : fmt::format("{} of ", steps);
    const std::string text = fmt::format("{}  {:>8} ms a step ({}{})  ", whose, report::milliseconds(time), part,
                                         report::counted(static_cast<std::int64_t>(all), "step"));
    out_ << text << report::shortened_front(source, style_.width - text.size()) << '\n';
  }
  void paragraph(std::string_view text) {
    for (const std::string& line : report::wrapped(text, style_.width)) out_ << line << '\n';
  }
  void print(std::string_view title, const TextTable& table) {
    for (const std::string& line : report::wrapped(title, style_.width)) {
      out_ << report::coloured(style_, Colour::kBold, line) << '\n';
    }
    out_ << table.text(style_, kIndent) << '\n';
  }

  std::ostream& out_;
  const report::TextStyle& style_;
};

}  // namespace

void write_explain_table(std::ostream& out, const ExplainAnswer& answer, std::size_t at_most,
                         const report::TextStyle& style) {
  ExplainWriter writer(out, style);
  writer.head(answer);
  writer.causes(answer.explanation);
  writer.parts(answer.explanation, at_most);
  writer.operations(answer.explanation.matching);
  writer.matching(answer.explanation.matching);
}

}  // namespace interlace::cli
