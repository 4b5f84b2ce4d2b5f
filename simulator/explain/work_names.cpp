#include "simulator/explain/work_names.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace interlace::explain {

using trace::OperationId;

namespace {

std::string_view module_of(const trace_check::StagedWork& staged, const trace_check::StageRun& run) {
  const bool known = run.module && *run.module < staged.modules.size();
  return known ? staged.modules[*run.module] : std::string_view();
}

/// Each once, in the order of the trace.
std::vector<NameId> distinct(const NamedWork& works) {
  std::vector<NameId> names;
  std::set<NameId> seen;
  for (const auto& name : works) {
    if (name && seen.insert(*name).second) names.push_back(*name);
  }
  return names;
}

}  // namespace

std::string stage_text(const trace_check::StagedWork& staged, OperationId op) {
  const trace_check::StageRun* run = staged.run(op);
  if (run == nullptr) return {};
  return std::string(schedule::to_string(run->stage)) + stages::part_label(module_of(staged, *run), run->piece);
}

NameId WorkNames::intern(WorkName name) {
  const auto [known, is_new] =
      ids_.try_emplace({name.stage, name.operation, name.ordinal}, NameId{static_cast<std::uint32_t>(names_.size())});
  if (is_new) names_.push_back(std::move(name));
  return known->second;
}

NameId WorkNames::host_in(std::string_view stage) { return intern({std::string(stage), {}, {}, 0}); }

void WorkNames::join_across_stages(const NamedWork& one, NamedWork& other) const {
  std::vector<NameId> of_one = distinct(one);
  std::vector<NameId> of_other = distinct(other);
  const std::set<NameId> in_one(of_one.begin(), of_one.end());
  const std::set<NameId> in_other(of_other.begin(), of_other.end());
  const auto drop = [&](std::vector<NameId>& names, const auto& useless) { std::erase_if(names, useless); };
  drop(of_one, [&](NameId name) { return in_other.contains(name) || names_[name.index()].stage.empty(); });
  drop(of_other, [&](NameId name) { return in_one.contains(name) || names_[name.index()].stage.empty(); });
  std::map<NameId, NameId> joined;
  const auto join = [&](auto key_of) {
    std::map<std::pair<std::string_view, std::string_view>, std::deque<NameId>> free;
    for (const NameId name : of_one) free[{key_of(name), names_[name.index()].operation}].push_back(name);
    std::set<NameId> taken;
    for (const NameId name : of_other) {
      const auto found = free.find({key_of(name), names_[name.index()].operation});
      if (found == free.end() || found->second.empty()) continue;
      joined.emplace(name, found->second.front());
      taken.insert(found->second.front());
      found->second.pop_front();
    }
    drop(of_one, [&](NameId name) { return taken.contains(name); });
    drop(of_other, [&](NameId name) { return joined.contains(name); });
  };
  join([&](NameId name) { return std::string_view(names_[name.index()].module); });
  // What one run does for all modules at once.
  join([&](NameId name) {
    return std::string_view(names_[name.index()].stage).substr(0, names_[name.index()].stage.find('['));
  });
  for (auto& name : other) {
    if (!name) continue;
    if (const auto to = joined.find(*name); to != joined.end()) name = to->second;
  }
}

NamedWork WorkNames::name_device_work(const Run& run) {
  const trace::Trace& trace = *run.trace;
  std::vector<OperationId> work;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace::is_device_work(trace.kind({i}))) work.push_back({i});
  }
  const auto launched_at = [&](OperationId op) {
    const auto call = trace.launch_of(op);
    return call ? trace.start(*call) : trace.start(op);
  };
  std::ranges::stable_sort(work, {}, launched_at);
  // Stage, batch, rank and name: what is counted through.
  std::map<std::tuple<std::string, std::int64_t, std::uint32_t, std::string_view>, std::uint32_t> seen;
  NamedWork names(trace.size());
  for (const OperationId op : work) {
    const trace_check::StageRun* stage_run = run.staged->run(op);
    std::string stage = stage_text(*run.staged, op);
    // Outside all stages there is no batch to count within, so that all works of a name are one.
    const std::uint32_t ordinal =
        stage_run == nullptr ? 0 : seen[{stage, stage_run->batch, trace.rank_of(op).value, trace.name(op)}]++;
    std::string module(stage_run == nullptr ? std::string_view() : module_of(*run.staged, *stage_run));
    names[op.index()] = intern({std::move(stage), std::move(module), std::string(trace.name(op)), ordinal});
  }
  return names;
}

}  // namespace interlace::explain
