#include "gui/session/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::gui {

namespace {

std::string hazard_text(const check::Hazard& hazard, const check::Side& own, const check::Side& other) {
  std::string text = fmt::format("{} of {}: {} {} it, {} {} it", check::to_string(hazard.kind), hazard.datum,
                                 own.operation, own.does, other.operation, other.does);
  if (other.line != 0) text += fmt::format(" (line {})", other.line);
  text += ". " + hazard.why;
  if (!hazard.stays.empty()) text += " It stays: " + hazard.stays;
  if (hazard.fix) text += (text.ends_with('.') ? " Fix: " : ". Fix: ") + hazard.fix->text;
  return text;
}

void add_hazards(const std::vector<check::Hazard>& hazards, Gravity gravity, std::vector<Remark>& remarks) {
  for (const check::Hazard& hazard : hazards) {
    // Both sides are marked: which of them is to be moved is the user's choice.
    remarks.push_back({gravity, hazard.later.line, hazard_text(hazard, hazard.later, hazard.earlier)});
    if (hazard.earlier.line != hazard.later.line && hazard.earlier.line != 0) {
      remarks.push_back({gravity, hazard.earlier.line, hazard_text(hazard, hazard.earlier, hazard.later)});
    }
  }
}

void add_hints(const check::ScheduleCheck& check, std::vector<Remark>& remarks) {
  for (const std::string& reason : check.numerics.reasons) remarks.push_back({Gravity::kNumbers, 0, reason});
  for (const std::string& note : check.notes) remarks.push_back({Gravity::kNote, 0, note});
  for (const check::WaitUse& wait : check.waits) {
    if (wait.use == check::WaitUse::Use::kNeeded) continue;
    const bool redundant = wait.use == check::WaitUse::Use::kRedundant;
    remarks.push_back({Gravity::kHint, wait.line,
                       redundant ? fmt::format("{} is not needed", wait.text)
                                 : fmt::format("{} is a precaution: {}", wait.text, wait.reason)});
  }
  for (const check::LostOverlap& lost : check.lost_overlaps) {
    remarks.push_back({Gravity::kHint, lost.line, lost.fix.empty() ? lost.text : lost.text + " " + lost.fix});
  }
  for (const check::PointlessStream& pointless : check.pointless_streams) {
    remarks.push_back(
        {Gravity::kHint, 0, fmt::format("stream {} could as well be {}", pointless.stream, pointless.same_as)});
  }
}

/// The row, from 1, that a line of the printed schedule belongs to; 0: none.
int row_of_line(const schedule::Schedule& printed, int line) {
  int row = 0;
  int found = 0;
  const auto visit = [&](const schedule::Step& step) {
    ++row;
    if (step.line <= line) found = row;
  };
  for (const schedule::Step& step : printed.iteration) {
    visit(step);
    const auto* group = std::get_if<schedule::ForEachModule>(&step.action);
    if (group != nullptr) std::ranges::for_each(group->steps, visit);
  }
  return found;
}

/// What the reader of files would refuse, so that what is fit to run can be saved and run.
void add_problems(const schedule::Schedule& schedule, std::vector<Remark>& remarks) {
  const schedule::ReadSchedule read = schedule::read_words(schedule::print(schedule), schedule.source);
  for (const schedule::Problem& problem : read.problems) {
    remarks.push_back({Gravity::kWrong, row_of_line(read.schedule, problem.line), problem.text});
  }
  for (const schedule::Problem& problem : schedule::find_problems(schedule)) {
    remarks.push_back({Gravity::kWrong, problem.line, problem.text});
  }
}

}  // namespace

std::size_t Verdict::count(Gravity gravity) const {
  return static_cast<std::size_t>(std::ranges::count(remarks, gravity, &Remark::gravity));
}

std::size_t Verdict::count_lines(Gravity gravity) const {
  std::set<int> lines;
  for (const Remark& remark : remarks) {
    if (remark.gravity == gravity) lines.insert(remark.line);
  }
  return lines.size();
}

Verdict verdict_of(const schedule::Schedule& schedule, bool one_rank) {
  Verdict verdict;
  add_problems(schedule, verdict.remarks);
  verdict.can_run = verdict.remarks.empty();
  if (!verdict.can_run) return verdict;
  check::ScheduleCheck check = check::check(schedule, {.one_rank = one_rank});
  add_hazards(check.hazards, Gravity::kHazard, verdict.remarks);
  add_hazards(check.known_hazards, Gravity::kKnown, verdict.remarks);
  verdict.known_hazards = check.known_hazards.size();
  add_hints(check, verdict.remarks);
  std::ranges::stable_sort(verdict.remarks, {}, &Remark::line);
  verdict.repaired = std::move(check.repaired);
  return verdict;
}

}  // namespace interlace::gui
