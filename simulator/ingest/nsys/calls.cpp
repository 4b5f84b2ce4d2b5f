#include "simulator/ingest/nsys/calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/ingest/names.hpp"
#include "simulator/ingest/nsys/flaws.hpp"

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
  std::int64_t record = 0;  ///< the number that a record and the waits for it share; 0 where there is none
  bool is_joined = false;
};

/// What is known of one rank while its calls are read.
struct RankCalls {
  std::unordered_map<std::int64_t, SyncFact> facts;         ///< by correlation
  std::unordered_map<std::int64_t, OperationId> records;    ///< by their shared number
  std::vector<std::pair<OperationId, std::int64_t>> waits;  ///< with the number of the record
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
      const auto device = devices.find(rows.integer(2).value_or(-1));
      if (const auto stream = unless_none(rows.integer(4))) {
        fact.stream =
            placement_.stream(*owner, device == devices.end() ? rows.integer(3).value_or(0) : device->second, *stream);
      }
      fact.event = unless_none(rows.integer(5));
      fact.record = unless_none(rows.integer(6)).value_or(0);
      if (!ranks_[owner->rank.index()].facts.try_emplace(*correlation, fact).second) placement_.count(kSyncWithoutCall);
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
    const std::int64_t number = fact == nullptr ? 0 : fact->record;
    if (role.kind == OperationKind::kEventRecord) {
      if (number != 0) rank.records.insert_or_assign(number, call);
      return;
    }
    const bool waits_for_event = role.kind == OperationKind::kStreamWait ||
                                 (role.kind == OperationKind::kHostSync && role.sync == SyncKind::kEventSync);
    if (!waits_for_event) return;
    if (number == 0) {
      placement_.count(kWaitWithoutRecord);
    } else {
      rank.waits.emplace_back(call, number);
    }
  }

  /// Rows come in any order, and so does a wait before its record.
  void join_records(const RankCalls& rank) {
    for (const auto& [call, number] : rank.waits) {
      const auto record = rank.records.find(number);
      if (record == rank.records.end()) {
        placement_.count(kWaitWithoutRecord);
        continue;
      }
      trace::SyncDetail& wait = placement_.builder().sync_detail(call);
      wait.record = record->second;
      wait.record_stream = placement_.builder().sync_detail(record->second).stream;
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
