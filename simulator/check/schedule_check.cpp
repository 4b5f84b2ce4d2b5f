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

UnrollOptions unroll_options(const CheckOptions& options) {
  UnrollOptions unrolled;
  unrolled.feature_processors = options.feature_processors;
  unrolled.collectives = !options.one_rank;
  return unrolled;
}

/// A copy with the first piece of waste mended; none where there is none.
std::optional<schedule::Schedule> with_less_waste(const schedule::Schedule& schedule, const UnrollOptions& options) {
  const Examined examined(schedule, options);
  if (std::vector<MendedLoss> losses = find_lost_overlaps(examined); !losses.empty()) {
    return std::move(losses.front().mended);
  }
  const std::vector<PointlessStream> pointless = find_pointless_streams(examined, {});
  if (pointless.empty()) return std::nullopt;
  schedule::Schedule merged = schedule;
  const schedule::StreamIndex stream = *schedule.stream_named(pointless.front().stream);
  merged.streams[stream.index()].same_as = *schedule.stream_named(pointless.front().same_as);
  return merged;
}

}  // namespace

std::string_view to_string(Phase phase) { return kPhaseWords.at(static_cast<std::size_t>(phase)); }

// One by one, since each may be another's reason. It ends: waits only move up, and streams that are another stay it.
std::optional<schedule::Schedule> without_waste(const schedule::Schedule& schedule, const CheckOptions& options) {
  const UnrollOptions unrolled = unroll_options(options);
  std::optional<schedule::Schedule> thrifty;
  while (auto less = with_less_waste(thrifty ? *thrifty : schedule, unrolled)) thrifty = std::move(less);
  return thrifty;
}

ScheduleCheck check(const schedule::Schedule& schedule, const CheckOptions& options) {
  const UnrollOptions unrolled = unroll_options(options);
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
  for (MendedLoss& loss : find_lost_overlaps(examined)) result.lost_overlaps.push_back(std::move(loss.lost));
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
