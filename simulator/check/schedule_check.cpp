#include "simulator/check/schedule_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "simulator/check/findings.hpp"
#include "simulator/check/overlap_loss.hpp"
#include "simulator/check/repairs.hpp"
#include "simulator/check/staleness.hpp"
#include "simulator/check/waits.hpp"
#include "simulator/check/words.hpp"

namespace interlace::check {

namespace {

constexpr std::array<std::string_view, 3> kPhaseWords = {"steady", "filling", "draining"};

/// What is a hazard under stricter rules only.
template <class Note>
void note_stricter(const Examined& examined, const UnrollOptions& stricter, const Note& note) {
  std::set<FindingKey> known;
  for (const Finding& finding : findings_of(examined)) known.insert(finding.key);
  const Examined changed(*examined.program().schedule, stricter);
  for (const Finding& finding : findings_of(changed)) {
    if (!known.contains(finding.key)) note(explain(changed, finding));
  }
}

void note_assumptions(const Examined& examined, std::vector<std::string>& notes) {
  if (!examined.options().collectives) return;
  UnrollOptions alone = examined.options();
  alone.collectives = false;
  note_stricter(examined, alone, [&](const Hazard& hazard) {
    notes.push_back(fmt::format("only a collective orders {} behind {} ({}): with one rank nothing would",
                                hazard.later.operation, hazard.earlier.operation, hazard.datum));
  });
}

void note_locks(const Program& program, std::vector<std::string>& notes) {
  for (const schedule::PlacedStep& placed : program.stages) {
    const auto& step = std::get<schedule::StageStep>(placed.step->action);
    if (!std::ranges::any_of(schedule::reads_of(step), &schedule::Read::locked)) continue;
    notes.push_back(fmt::format("{} may run beside updates of the tables: the embedding cache locks the rows in use",
                                name_of(step)));
  }
}

}  // namespace

std::string_view to_string(Phase phase) { return kPhaseWords.at(static_cast<std::size_t>(phase)); }

ScheduleCheck check(const schedule::Schedule& schedule, const CheckOptions& options) {
  UnrollOptions unrolled;
  unrolled.feature_processors = options.feature_processors;
  unrolled.collectives = !options.one_rank;
  const Examined examined(schedule, unrolled);
  const Program& program = examined.program();
  ScheduleCheck result;
  result.schedule = schedule.name;
  result.source = schedule.source;
  result.batches = program.batches;
  result.operations = static_cast<std::int64_t>(program.operations.size());
  result.staleness = staleness_of(program);
  bool sound = true;
  const std::vector<Finding> findings = findings_of(examined);
  for (const Finding& finding : findings) {
    if (const schedule::KnownHazard* known = known_as(schedule, finding)) {
      result.known_hazards.push_back(explain(examined, finding));
      result.known_hazards.back().stays = known->why;
      continue;
    }
    sound = false;
    if (options.hazards_only) result.hazards.push_back(explain(examined, finding));
  }
  result.numerics = numerics_of(program, result.staleness, !sound);
  if (options.hazards_only) return result;
  Repairs repairs = find_repairs(examined);
  result.hazards = std::move(repairs.hazards);
  result.repaired = std::move(repairs.repaired);
  WaitReview review = review_waits(schedule, unrolled);
  result.waits = std::move(review.waits);
  result.redundant_together = review.redundant_together;
  result.lost_overlaps = find_lost_overlaps(examined);
  result.pointless_streams = find_pointless_streams(examined, result.lost_overlaps);
  for (const schedule::KnownHazard& known : known_in_vain(schedule, findings)) {
    result.notes.push_back(
        fmt::format(R"("known_hazards" names {} of {}, which is not there (any more))", known.kind, known.of));
  }
  note_locks(program, result.notes);
  note_assumptions(examined, result.notes);
  return result;
}

}  // namespace interlace::check
