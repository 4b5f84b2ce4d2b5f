#include "simulator/ingest/nsys/calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/ingest/names.hpp"
#include "simulator/ingest/nsys/flaws.hpp"
#include "simulator/ingest/unless_none.hpp"

namespace interlace::ingest::nsys {

namespace {

using trace::OperationId;
using trace::OperationKind;
using trace::SyncKind;

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel", as other profilers call it.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at + 2 == name.size()) return name;
  const bool is_version =
      std::ranges::all_of(name.substr(at + 2), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return is_version ? name.substr(0, at) : name;
}

SyncKind sync_kind(std::optional<std::int64_t> type) {
  // ENUM_CUPTI_SYNC_TYPE.
  static constexpr std::array<SyncKind, 5> kKinds{SyncKind::kUnknown, SyncKind::kEventSync, SyncKind::kStreamWaitEvent,
                                                  SyncKind::kStreamSync, SyncKind::kDeviceSync};
  return type && *type >= 0 && *type < std::ssize(kKinds) ? kKinds[static_cast<std::size_t>(*type)]
                                                          : SyncKind::kUnknown;
}

/// A row of either table: what a call recorded, waited for or synchronised.
struct SyncFact {
  SyncKind kind = SyncKind::kUnknown;
  std::optional<trace::LaneId> stream;
  std::optional<std::int64_t> event;
  std::int64_t context = 0;
  std::int64_t record = 0;  ///< the number that a record and the waits for it share; 0 where there is none
  bool is_joined = false;
};

/// A call that records an event, or waits for one.
struct EventCall {
  Nanoseconds start = 0;
  OperationId call;
  const SyncFact* fact = nullptr;
};

/// What is known of one rank while its calls are read.
struct RankCalls {
  std::unordered_map<std::int64_t, SyncFact> facts;  ///< by correlation
  std::vector<EventCall> records;
  std::vector<EventCall> waits;
};

/// Which record a wait is for: that with its number; else, in exports that number no records, the last one of its event
/// that was called before it.
class RecordFinder {
 public:
  explicit RecordFinder(std::vector<EventCall> records) {
    std::ranges::sort(records, {}, &EventCall::start);
    for (const EventCall& record : records) {
      if (record.fact->record != 0) by_number_.insert_or_assign(record.fact->record, record.call);
      if (record.fact->event) by_event_[{record.fact->context, *record.fact->event}].push_back(record);
    }
  }

  [[nodiscard]] std::optional<OperationId> of(const EventCall& wait) const {
    if (wait.fact->record != 0) {
      const auto known = by_number_.find(wait.fact->record);
      return known == by_number_.end() ? std::nullopt : std::optional(known->second);
    }
    if (!wait.fact->event) return std::nullopt;
    const auto known = by_event_.find({wait.fact->context, *wait.fact->event});
    if (known == by_event_.end()) return std::nullopt;
    const auto next = std::ranges::lower_bound(known->second, wait.start, {}, &EventCall::start);
    return next == known->second.begin() ? std::nullopt : std::optional(std::prev(next)->call);
  }

 private:
  std::unordered_map<std::int64_t, OperationId> by_number_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<EventCall>> by_event_;  ///< by start
};

class CallReader {
 public:
  CallReader(const Database& database, Placement& placement)
      : database_(database), placement_(placement), ranks_(placement.rank_count()) {}

  void add() {
    read_facts(kRecords, "eventSyncId");
    read_facts(kSyncs, "syncType");
    read_calls();
    for (RankCalls& rank : ranks_) {
      join_records(rank);
      placement_.count(kSyncWithoutCall,
                       std::ranges::count_if(rank.facts, [](const auto& fact) { return !fact.second.is_joined; }));
    }
  }

 private:
  /// Both tables have these columns; `kind` is one more, of which records have no use.
  void read_facts(std::string_view table, std::string_view kind) {
    const std::array<std::string_view, 8> columns{"correlationId", "globalPid", "contextId",   "deviceId",
                                                  "streamId",      "eventId",   "eventSyncId", kind};
    Rows rows = database_.rows(table, columns, 2);
    while (rows.next()) {
      const auto correlation = rows.integer(0);
      const Placement::Owner* const owner = placement_.owner(rows.integer(1));
      if (owner == nullptr) continue;
      if (!correlation) {
        placement_.count(kUnusableRow);
        continue;
      }
      SyncFact fact;
      fact.kind = table == kRecords ? SyncKind::kEventRecord : sync_kind(rows.integer(7));
      // The context tells the device: the column of these tables reads 0 on any.
      const auto& devices = owner->process->device_of_context;
      fact.context = rows.integer(2).value_or(0);
      const auto device = devices.find(fact.context);
      if (const auto stream = unless_none(rows.integer(4))) {
        fact.stream =
            placement_.stream(*owner, device == devices.end() ? rows.integer(3).value_or(0) : device->second, *stream);
      }
      fact.event = unless_none(rows.integer(5));
      fact.record = unless_none(rows.integer(6)).value_or(0);
      const bool is_new = ranks_[owner->rank.index()].facts.try_emplace(*correlation, fact).second;
      if (!is_new) placement_.count(kDuplicateSync);
    }
  }

  void read_calls() {
    enum : std::size_t { kStart, kEnd, kThread, kName, kCorrelation };
    static constexpr std::array<std::string_view, 5> kColumns{"start", "end", "globalTid", "nameId", "correlationId"};
    Rows rows = database_.rows(kCalls, kColumns, 4);
    while (rows.next()) {
      const auto thread = rows.integer(kThread);
      const Placement::Owner* const owner = placement_.owner(thread);
      if (owner == nullptr) continue;
      const CallName& name = call_name(rows.integer(kName));
      const auto correlation = rows.integer(kCorrelation);
      const auto all = placement_.common(placement_.thread(*owner, *thread), name.id, rows.integer(kStart),
                                         rows.integer(kEnd), correlation);
      if (all) add_call(*all, name.role, ranks_[owner->rank.index()]);
    }
  }

  void add_call(const trace::TraceBuilder::Common& all, const CallRole& role, RankCalls& rank) {
    const auto known = all.correlation ? rank.facts.find(*all.correlation) : rank.facts.end();
    SyncFact* const fact = known == rank.facts.end() ? nullptr : &known->second;
    if (role.sync == SyncKind::kUnknown && fact == nullptr) {
      placement_.builder().add_host_call(all);
      return;
    }
    trace::SyncDetail detail;
    detail.kind = role.sync;
    if (fact != nullptr) {
      fact->is_joined = true;
      // The name is surer than the type: some versions write those of another numbering.
      if (role.sync == SyncKind::kUnknown) detail.kind = fact->kind;
      detail.stream = fact->stream;
      detail.event = fact->event;
    }
    const OperationId call = placement_.builder().add_sync(role.kind, all, detail);
    if (role.kind == OperationKind::kEventRecord) {
      if (fact != nullptr) rank.records.push_back({all.start, call, fact});
      return;
    }
    const bool waits_for_event = role.kind == OperationKind::kStreamWait ||
                                 (role.kind == OperationKind::kHostSync && role.sync == SyncKind::kEventSync);
    if (!waits_for_event) return;
    if (fact == nullptr) {
      placement_.count(kWaitWithoutRecord);
    } else {
      rank.waits.push_back({all.start, call, fact});
    }
  }

  /// Rows come in any order, and so does a wait before its record.
  void join_records(const RankCalls& rank) {
    const RecordFinder records(rank.records);
    for (const EventCall& waiting : rank.waits) {
      const auto record = records.of(waiting);
      if (!record) {
        placement_.count(kWaitWithoutRecord);
        continue;
      }
      trace::SyncDetail& wait = placement_.builder().sync_detail(waiting.call);
      wait.record = *record;
      wait.record_stream = placement_.builder().sync_detail(*record).stream;
    }
  }

  struct CallName {
    trace::StringId id;
    CallRole role;
  };
  const CallName& call_name(std::optional<std::int64_t> text) {
    static constexpr std::int64_t kNoText = INT64_MIN;
    const auto known = text ? names_.find(*text) : names_.end();
    if (known != names_.end()) return known->second;
    const std::string_view name = without_version(placement_.text(text));
    return names_.insert_or_assign(text.value_or(kNoText), CallName{placement_.builder().intern(name), call_role(name)})
        .first->second;
  }

  const Database& database_;
  Placement& placement_;
  std::vector<RankCalls> ranks_;  ///< by rank
  std::unordered_map<std::int64_t, CallName> names_;
};

}  // namespace

void add_calls(const Database& database, Placement& placement) { CallReader(database, placement).add(); }

}  // namespace interlace::ingest::nsys
