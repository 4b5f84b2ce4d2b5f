#include "simulator/trace/ilt/sync_join.hpp"

#include <algorithm>
#include <tuple>

namespace interlace::trace::ilt {

std::optional<OperationId> SyncJoin::call_of(const SyncFact& fact) const {
  const auto key = [](const auto& row) { return std::tuple(row.rank, row.correlation); };
  const auto first = std::ranges::lower_bound(calls_, key(fact), {}, key);
  if (first == calls_.end() || key(*first) != key(fact)) return std::nullopt;
  return first->id;
}

const SyncJoin::Record* SyncJoin::record_of(const SyncFact& wait) const {
  const auto key = [](const Record& record) { return std::tuple(record.rank, record.number); };
  const auto first = std::ranges::lower_bound(records_, std::tuple(wait.rank, *wait.record), {}, key);
  if (first == records_.end() || key(*first) != std::tuple(wait.rank, *wait.record)) return nullptr;
  return &*first;
}

void SyncJoin::complete(TraceBuilder& builder, Diagnostics& diagnostics) {
  if (facts_.empty()) return;
  std::ranges::sort(calls_, {}, [](const Call& c) { return std::tuple(c.rank, c.correlation, c.start, c.id); });
  for (const SyncFact& fact : facts_) {
    const auto call = call_of(fact);
    if (fact.kind == SyncKind::kEventRecord && fact.record) {
      records_.push_back({fact.rank, *fact.record, call, fact.stream});
    }
    if (!call) diagnostics.count(kSyncWithoutCall, to_string(fact.kind));
  }
  std::ranges::stable_sort(records_, {}, [](const Record& r) { return std::tuple(r.rank, r.number); });
  for (const SyncFact& fact : facts_) {
    const auto call = call_of(fact);
    if (!call) continue;
    SyncDetail& detail = builder.sync_detail(*call);
    // A driver tells of a query that found the work done as of a synchronisation.
    if (detail.kind != SyncKind::kEventQuery) detail.kind = fact.kind;
    if (fact.stream) detail.stream = fact.stream;
    if (fact.event) detail.event = fact.event;
    if (!fact.record || fact.kind == SyncKind::kEventRecord) continue;
    if (const Record* record = record_of(fact)) {
      detail.record = record->call;
      detail.record_stream = record->stream;
    } else {
      diagnostics.count(kWaitWithoutRecord, to_string(fact.kind));
    }
  }
}

}  // namespace interlace::trace::ilt
