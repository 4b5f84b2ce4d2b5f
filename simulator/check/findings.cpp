#include "simulator/check/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/check/words.hpp"

namespace interlace::check {

ExaminedRun::ExaminedRun(const schedule::Schedule& schedule, const UnrollOptions& unrolled)
    : options(unrolled),
      program(unroll(schedule, unrolled)),
      order(program, false),
      conflicts(unordered_accesses(program, order)) {
  std::ranges::copy(lifetime_conflicts(program, order), std::back_inserter(conflicts));
  std::ranges::copy(pool_conflicts(program, order), std::back_inserter(conflicts));
}

std::deque<ExaminedRun> examined_runs(const schedule::Schedule& schedule, UnrollOptions options) {
  std::deque<ExaminedRun> runs;
  runs.emplace_back(schedule, options);
  for (const std::int64_t batches : lengths_of_short_runs(schedule)) {
    options.batches = batches;
    runs.emplace_back(schedule, options);
  }
  return runs;
}

Examined::Examined(const schedule::Schedule& schedule, UnrollOptions options) {
  options.batches = batches_to_steady_state(schedule, options);
  runs_ = examined_runs(schedule, options);
}

namespace {

FindingKey key_of(const Program& program, const Conflict& conflict) {
  const Operation& earlier = program.operation(conflict.earlier);
  const Operation& later = program.operation(conflict.later);
  FindingKey key{conflict.kind, program.data[conflict.datum.index()].name, earlier.stage, earlier.role, later.stage,
                 later.role};
  // Whoever is given the memory next: the fault is that it was given back.
  if (conflict.kind == HazardKind::kFreeBeforeLastUse) {
    key.later = {};
    key.later_role = Role::kWork;
  }
  return key;
}

Phase phase_of(const Program& program, const Conflict& conflict) {
  const std::int64_t earlier = program.operation(conflict.earlier).iteration;
  const std::int64_t later = program.operation(conflict.later).iteration;
  if (program.steady(earlier) && program.steady(later)) return Phase::kSteady;
  return program.steady(later) || later < 0 ? Phase::kFilling : Phase::kDraining;
}

/// The better to tell of comes first.
auto telling(const Program& program, const Conflict& conflict) {
  return std::tuple(phase_of(program, conflict), conflict.later.value - conflict.earlier.value, conflict.later);
}

std::vector<Finding> findings_in(const ExaminedRun& run, std::size_t number) {
  const Program& program = run.program;
  struct Group {
    const Conflict* best = nullptr;
    OperationIndex first;  ///< where the pipeline meets it
  };
  std::map<FindingKey, Group> groups;
  for (const Conflict& conflict : run.conflicts) {
    Group& group = groups[key_of(program, conflict)];
    if (group.best == nullptr) group.first = conflict.later;
    group.first = std::min(group.first, conflict.later);
    if (group.best == nullptr || telling(program, conflict) < telling(program, *group.best)) group.best = &conflict;
  }
  std::vector<std::pair<OperationIndex, Finding>> ordered;
  for (const auto& [key, group] : groups) {
    const Conflict& best = *group.best;
    const auto stage_of = [&](OperationIndex op) { return program.stage(program.operation(op).stage).stage; };
    ordered.push_back(
        {group.first, {key, best, stage_of(best.earlier), stage_of(best.later), phase_of(program, best), number}});
  }
  // What shows in every iteration first.
  std::ranges::stable_sort(ordered, {}, [](const auto& one) { return std::pair(one.second.phase, one.first); });
  std::vector<Finding> findings;
  for (auto& [first, finding] : ordered) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

std::set<std::pair<FindingKey, Phase>> what_clashes(const std::deque<ExaminedRun>& runs) {
  std::set<std::pair<FindingKey, Phase>> clashes;
  for (const ExaminedRun& run : runs) {
    for (const Conflict& conflict : run.conflicts) {
      clashes.emplace(key_of(run.program, conflict), phase_of(run.program, conflict));
    }
  }
  return clashes;
}

std::vector<Finding> findings_of(const Examined& examined) {
  std::vector<Finding> findings;
  std::set<FindingKey> known;
  for (std::size_t number = 0; number < examined.runs().size(); ++number) {
    for (Finding& finding : findings_in(examined.runs()[number], number)) {
      if (known.insert(finding.key).second) findings.push_back(std::move(finding));
    }
  }
  return findings;
}

namespace {

class Explainer {
 public:
  Explainer(const Examined& examined, const Finding& finding)
      : run_(examined.runs()[finding.run]),
        program_(run_.program),
        short_run_(finding.run > 0),
        conflict_(finding.conflict),
        earlier_(program_.operation(conflict_.earlier)),
        later_(program_.operation(conflict_.later)) {}

  [[nodiscard]] Side side(const Operation& op, std::string_view verb) const {
    return {.operation = name_of(program_, op, later_.iteration),
            .does = std::string(verb),
            .lane = lane_name(op.lane),
            .iterations_before = later_.iteration - op.iteration,
            .line = line_of(program_, op)};
  }

  [[nodiscard]] std::string datum() const {
    return name_of(program_, program_.data[conflict_.datum.index()], later_.iteration);
  }

  [[nodiscard]] std::string why() const {
    if (!short_run_) return why_it_clashes();
    return fmt::format("{} That is so in a run of {} batch{}; long runs have it in order.", why_it_clashes(),
                       program_.batches, program_.batches == 1 ? "" : "es");
  }

 private:
  [[nodiscard]] std::string why_it_clashes() const {
    switch (conflict_.kind) {
      case HazardKind::kFreeBeforeLastUse: return why_memory_is_reused();
      case HazardKind::kReadAfterFree:
        return fmt::format("{} gives the memory back by name, and nothing writes {} anew before.", freeing_stage(),
                           datum());
      case HazardKind::kMemoryStillInUse:
        return fmt::format(
            "The memory comes from {}'s pool, which knows the order of {} only, and {} may hold "
            "what work there still uses. {}",
            pool_name(), pool_name(), "a block that was just freed", what_is_awaited());
      default: return what_is_awaited() + hidden_by_reads();
    }
  }

  [[nodiscard]] std::string lane_name(LaneIndex lane) const { return program_.lanes[lane.index()].name; }
  [[nodiscard]] std::string pool_name() const { return lane_name(*later_.pool); }

  [[nodiscard]] std::string what_is_awaited() const {
    const std::string waiter = later_.lane == Program::kHost           ? "the host"
                               : later_.lane == program_.collectives() ? "that collective"
                                                                       : lane_name(later_.lane);
    const std::string source = lane_name(earlier_.lane);
    const auto newest = run_.order.newest_before(earlier_.lane, conflict_.later);
    if (!newest) return fmt::format("By then {} has waited for nothing on {}.", waiter, source);
    return fmt::format("By then {} has waited for {} only as far as {}.", waiter, source,
                       name_of(program_, program_.operation(*newest), later_.iteration));
  }

  [[nodiscard]] std::string why_memory_is_reused() const {
    const Buffer& buffer = program_.buffer(*conflict_.buffer);
    std::string given_back = fmt::format("The host gives the memory back to {}'s pool ", lane_name(buffer.pool));
    if (buffer.freed_by) {
      given_back += fmt::format("in {}", freeing_stage());
    } else {
      const auto last = std::ranges::max(buffer.uses);
      const Operation& user = program_.operation(last);
      given_back +=
          fmt::format("{} {}", user.lane == program_.collectives() ? "once a stream has waited for" : "behind",
                      name_of(program_, user, later_.iteration));
      const auto kept =
          buffer.maker ? program_.stage(program_.operation(*buffer.maker).stage).kept_until : std::nullopt;
      if (kept) given_back += fmt::format(", not before {}", to_string(*kept));
    }
    std::string recorded = buffer.recorded.empty() ? "recorded on no stream" : "recorded on";
    for (std::size_t i = 0; i < buffer.recorded.size(); ++i) {
      recorded += (i == 0 ? " " : ", ") + lane_name(buffer.recorded[i]);
    }
    return fmt::format("{}, {}. {}{}", given_back, recorded, what_is_awaited(), hidden_by_reads());
  }

  [[nodiscard]] std::string freeing_stage() const {
    const StageIndex stage = *program_.buffer(*conflict_.buffer).freed_by;
    return fmt::format("{} ({})", name_of(program_.stage(stage)), place_of(program_.stages[stage.index()]));
  }

  /// Such a hazard never shows until the host knows the result some other way.
  [[nodiscard]] std::string hidden_by_reads() const {
    if (!HappensBefore(program_, true).before(conflict_.earlier, conflict_.later)) return {};
    return " A read of the host inside a stage hides that, as long as the stage has to read.";
  }

  const ExaminedRun& run_;
  const Program& program_;
  bool short_run_;
  const Conflict& conflict_;
  const Operation& earlier_;
  const Operation& later_;
};

}  // namespace

bool tells_of(const schedule::KnownHazard& known, HazardKind kind, std::string_view datum, schedule::Stage earlier,
              schedule::Stage later) {
  return known.kind == to_string(kind) && known.of == datum && known.earlier.value_or(earlier) == earlier &&
         known.later.value_or(later) == later;
}

namespace {

bool tells_of(const schedule::KnownHazard& known, const Finding& finding) {
  return check::tells_of(known, finding.key.kind, finding.key.datum, finding.earlier, finding.later);
}

}  // namespace

const schedule::KnownHazard* known_as(const schedule::Schedule& schedule, const Finding& finding) {
  const auto found = std::ranges::find_if(schedule.known_hazards,
                                          [&](const schedule::KnownHazard& known) { return tells_of(known, finding); });
  return found == schedule.known_hazards.end() ? nullptr : &*found;
}

std::vector<schedule::KnownHazard> known_in_vain(const schedule::Schedule& schedule,
                                                 const std::vector<Finding>& findings) {
  std::vector<schedule::KnownHazard> vain;
  std::ranges::copy_if(schedule.known_hazards, std::back_inserter(vain), [&](const schedule::KnownHazard& known) {
    return std::ranges::none_of(findings, [&](const Finding& finding) { return tells_of(known, finding); });
  });
  return vain;
}

Hazard explain(const Examined& examined, const Finding& finding) {
  const Program& program = examined.runs()[finding.run].program;
  const Explainer words(examined, finding);
  const Verbs verbs = verbs_of(finding.key.kind);
  Hazard hazard{.kind = finding.key.kind,
                .phase = finding.phase,
                .datum = words.datum(),
                .earlier = words.side(program.operation(finding.conflict.earlier), verbs.earlier),
                .later = words.side(program.operation(finding.conflict.later), verbs.later),
                .why = words.why(),
                .also = {},
                .fix = {}};
  if (finding.key.kind == HazardKind::kReadAfterFree) {
    const StageIndex stage = *program.buffer(*finding.conflict.buffer).freed_by;
    const Operation& last = program.operation(finding.conflict.earlier);
    Operation freeing = last;
    freeing.stage = stage;
    freeing.role = Role::kWork;
    hazard.earlier = words.side(freeing, verbs.earlier);
  }
  return hazard;
}

}  // namespace interlace::check
