#pragma once

#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/session_rows.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace::ilt {

/// Joins facts of event records and waits with their host calls, by rank and correlation, and waits with the records
/// that they wait for, by rank and number. All of a file must be added before the join, for both may come in any order.
class SyncJoin {
 public:
  /// A host call that has a SyncDetail in the builder.
  void add_call(RankId rank, std::int64_t correlation, Nanoseconds start, OperationId call) {
    calls_.push_back({rank, correlation, start, call});
  }
  void add_fact(const SyncFact& fact) { facts_.push_back(fact); }

  /// Completes the details of the calls. Where several calls share a correlation, as a call does with those that it
  /// makes itself, the first to start has the fact. Counts kSyncWithoutCall and kWaitWithoutRecord.
  void complete(TraceBuilder& builder, Diagnostics& diagnostics);

 private:
  struct Call {
    RankId rank;
    std::int64_t correlation = 0;
    Nanoseconds start = 0;
    OperationId id;
  };
  struct Record {
    RankId rank;
    std::int64_t number = 0;
    std::optional<OperationId> call;
    std::optional<LaneId> stream;
  };

  [[nodiscard]] std::optional<OperationId> call_of(const SyncFact& fact) const;
  [[nodiscard]] const Record* record_of(const SyncFact& wait) const;

  std::vector<Call> calls_;
  std::vector<SyncFact> facts_;
  std::vector<Record> records_;
};

}  // namespace interlace::trace::ilt
