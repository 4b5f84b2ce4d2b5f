#include "simulator/check/repairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "simulator/check/words.hpp"

namespace interlace::check {

namespace {

std::set<FindingKey> keys_of(const std::vector<Finding>& findings) {
  std::set<FindingKey> keys;
  for (const Finding& finding : findings) keys.insert(finding.key);
  return keys;
}

/// A candidate that was applied.
struct Tried {
  const Candidate* candidate = nullptr;
  std::set<FindingKey> left;
  std::vector<std::string> also_orders;

  [[nodiscard]] auto rank() const { return std::tuple(left.size(), also_orders.size()); }
};

/// What the later side of a finding has to wait for with the change and had not before, apart from the earlier side and
/// what was in front of that.
std::vector<std::string> newly_ordered(const Examined& before, const Finding& finding, const Candidate& candidate) {
  if (!candidate.adds_waits) return {};
  const ExaminedRun& run = before.runs()[finding.run];
  const Program& program = run.program;
  const Program changed = unroll(candidate.schedule, run.options);
  const HappensBefore order(changed, false);
  const OperationIndex later = finding.conflict.later;
  const OperationIndex earlier = finding.conflict.earlier;
  const std::int64_t iteration = program.operation(later).iteration;
  std::vector<std::string> names;
  for (OperationIndex op{0}; op < later; ++op.value) {
    const Operation& one = program.operation(op);
    if (one.iteration < iteration - program.depth || one.role == Role::kCollective) continue;
    if (!order.before(op, later) || run.order.before(op, later)) continue;
    if (op == earlier || run.order.before(op, earlier)) continue;
    std::string name = name_of(program, one, iteration);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// The best change for a finding; none where no change mends it without making others.
std::optional<Tried> best(const Examined& examined, const Finding& finding, const std::set<FindingKey>& now,
                          const std::vector<Candidate>& all) {
  std::optional<Tried> best;
  for (const Candidate& candidate : all) {
    const Examined changed(candidate.schedule, examined.options());
    std::set<FindingKey> left = keys_of(findings_of(changed));
    if (left.contains(finding.key) || !std::ranges::includes(now, left)) continue;
    Tried tried{&candidate, std::move(left), newly_ordered(examined, finding, candidate)};
    if (!best || tried.rank() < best->rank()) best = std::move(tried);
  }
  return best;
}

/// "read_before_write of batch(i) in dense_forward(i)".
std::string in_short(const Hazard& hazard) {
  return fmt::format("{} of {} in {}", to_string(hazard.kind), hazard.datum, hazard.later.operation);
}

}  // namespace

Repairs find_repairs(const Examined& examined) {
  Repairs repairs;
  std::map<FindingKey, Hazard> explained;
  for (const Finding& finding : findings_of(examined)) explained.emplace(finding.key, explain(examined, finding));

  auto schedule = std::make_unique<schedule::Schedule>(*examined.program().schedule);
  bool all_mended = true;
  std::set<FindingKey> hopeless;
  while (true) {
    const Examined current(*schedule, examined.options());
    const std::vector<Finding> findings = findings_of(current);
    const auto open = [&](const Finding& finding) {
      return !hopeless.contains(finding.key) && known_as(*schedule, finding) == nullptr;
    };
    const auto next = std::ranges::find_if(findings, open);
    if (next == findings.end()) break;
    const std::set<FindingKey> now = keys_of(findings);
    const std::vector<Candidate> all = candidates(current, *next);
    const auto tried = best(current, *next, now, all);
    Hazard hazard = explained.at(next->key);
    if (!tried) {
      hopeless.insert(next->key);
      all_mended = false;
      repairs.hazards.push_back(std::move(hazard));
      continue;
    }
    for (const Finding& finding : findings) {
      if (finding.key != next->key && !tried->left.contains(finding.key) && known_as(*schedule, finding) == nullptr) {
        hazard.also.push_back(in_short(explained.at(finding.key)));
      }
    }
    hazard.fix = Fix{tried->candidate->text, tried->also_orders};
    repairs.hazards.push_back(std::move(hazard));
    // `current` looks at the old schedule to its end.
    auto repaired = std::make_unique<schedule::Schedule>(tried->candidate->schedule);
    schedule = std::move(repaired);
  }
  if (all_mended && !repairs.hazards.empty()) repairs.repaired = std::move(*schedule);
  return repairs;
}

}  // namespace interlace::check
