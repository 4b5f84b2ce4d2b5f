#include "simulator/ingest/join.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "simulator/ingest/memory_snapshot/as_rank.hpp"
#include "simulator/ingest/same_run.hpp"
#include "simulator/trace/append_trace.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest {

namespace {

/// One recorded rank: where it is from and its number in the job.
struct Member {
  std::size_t file = 0;
  std::size_t rank = 0;  ///< within the file
  std::int32_t number = 0;
};

/// Memory snapshots and exports of Nsight Systems do not say which ranks they are of. Where each is of another device
/// of one host, rank r works on device r as a rule.
void tell_ranks_by_device(std::vector<RankFacts>& facts) {
  std::set<std::int64_t> devices;
  for (const RankFacts& rank : facts) {
    if (rank.rank || rank.host_name != facts.front().host_name) return;
    if (!rank.device || *rank.device < 0 || *rank.device > INT32_MAX) return;
    if (!devices.insert(*rank.device).second) return;
  }
  for (RankFacts& rank : facts) rank.rank = static_cast<std::int32_t>(*rank.device);
}

std::vector<Member> members_of(std::span<const RecordedFile> files, Diagnostics& diagnostics) {
  std::vector<Member> members;
  std::vector<RankFacts> facts;
  for (std::size_t file = 0; file < files.size(); ++file) {
    for (RankFacts& rank : facts_of(files[file])) facts.push_back(std::move(rank));
    for (std::size_t rank = 0; members.size() < facts.size(); ++rank) members.push_back({file, rank});
  }
  // A whole trace by itself numbers its ranks.
  const bool is_whole = files.size() == 1 && std::holds_alternative<TraceFile>(files.front());
  if (!is_whole) tell_ranks_by_device(facts);
  if (files.size() > 1) {
    const auto untold = std::ranges::count_if(facts, [](const RankFacts& rank) { return !rank.rank; });
    diagnostics.count(kRanksByOrder, facts.front().file.string(), untold);
  }
  const std::vector<std::int32_t> numbers = number_ranks(facts, diagnostics);
  for (std::size_t i = 0; i < members.size(); ++i) members[i].number = numbers[i];
  std::ranges::sort(members, {}, &Member::number);
  return members;
}

/// built_again: the trace of the file goes into a builder, which finds some flaws once more.
void merge_diagnostics(const TraceFile& file, bool built_again, Diagnostics& diagnostics) {
  for (const Diagnostic& entry : file.diagnostics.entries()) {
    if (is_found_by_number_ranks(entry.code)) continue;
    // Older files say how many launches lack their work, but not which.
    const bool tells_launches = !file.trace.launches_without_work().empty();
    const bool is_found_again = entry.code == trace::kDeviceWorkBeforeLaunch.code ||
                                entry.code == trace::kDeviceWorkWithoutLaunch.code ||
                                (entry.code == trace::kLaunchWithoutDeviceWork.code && tells_launches);
    if (built_again && is_found_again) continue;
    diagnostics.add(entry);
  }
}

class Joiner {
 public:
  explicit Joiner(std::vector<RecordedFile>& files) : files_(&files), ranks_(files.size()) {}

  void add(const Member& member, Diagnostics& diagnostics) {
    RecordedFile& file = (*files_)[member.file];
    if (auto* kineto = std::get_if<kineto::RankFile>(&file)) {
      diagnostics.merge(kineto->diagnostics);
      kineto::add_rank(*kineto, member.number, builder_, diagnostics);
      kineto->slices.clear();  // may be as large as the trace itself
      return;
    }
    if (const auto* snapshot = std::get_if<memory_snapshot::Snapshot>(&file)) {
      memory_snapshot::add_rank(*snapshot, member.number, builder_, diagnostics);
      return;
    }
    const auto& whole = std::get<TraceFile>(file);
    std::vector<trace::RankId>& ranks = ranks_[member.file];
    const std::size_t in_file = whole.trace.ranks().size();
    ranks.resize(in_file);
    trace::Rank rank = whole.trace.ranks()[member.rank];
    rank.number = member.number;
    ranks[member.rank] = builder_.add_rank(std::move(rank));
    if (++added_[member.file] < in_file) return;
    // References cross ranks of one file, so its operations come at once, when all its ranks are known.
    merge_diagnostics(whole, true, diagnostics);
    trace::append_trace(whole.trace, ranks, builder_);
    file = RecordedFile();  // the trace is there twice
  }

  trace::Trace build(Diagnostics& diagnostics) { return std::move(builder_).build(diagnostics); }

 private:
  std::vector<RecordedFile>* files_;
  std::vector<std::vector<trace::RankId>> ranks_;  ///< of each file with a whole trace: its ranks in the builder
  std::vector<std::size_t> added_ = std::vector<std::size_t>(ranks_.size());
  trace::TraceBuilder builder_;
};

}  // namespace

Recording join(std::vector<RecordedFile> files) {
  Diagnostics diagnostics;
  const std::vector<Member> members = members_of(files, diagnostics);
  auto* only = files.size() == 1 ? std::get_if<TraceFile>(&files.front()) : nullptr;
  if (only != nullptr && std::ranges::is_sorted(members, {}, &Member::rank)) {
    merge_diagnostics(*only, false, diagnostics);
    return {std::move(only->trace), std::move(diagnostics)};
  }
  Joiner joiner(files);
  for (const Member& member : members) joiner.add(member, diagnostics);
  trace::Trace trace = joiner.build(diagnostics);
  return {std::move(trace), std::move(diagnostics)};
}

}  // namespace interlace::ingest
