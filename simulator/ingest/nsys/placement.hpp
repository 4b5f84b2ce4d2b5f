#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "simulator/base/diagnostics.hpp"
#include "simulator/ingest/nsys/session.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest::nsys {

/// Where rows of an export go in the trace that is built of it: each process is a rank.
class Placement {
 public:
  /// All must outlive it. file: named in diagnostics.
  Placement(const Session& session, std::string file, trace::TraceBuilder& builder, Diagnostics& diagnostics);

  struct Owner {
    const Process* process = nullptr;
    trace::RankId rank;
  };
  /// Of a process or a thread, by its global id. Null, and counted, where there is none or it is no rank.
  [[nodiscard]] const Owner* owner(std::optional<std::int64_t> global_id);

  [[nodiscard]] trace::LaneId thread(const Owner& owner, std::int64_t global_id);
  [[nodiscard]] trace::LaneId stream(const Owner& owner, std::int64_t device, std::int64_t stream);

  /// Times as the export has them. None, and counted, where one is missing or out of range.
  [[nodiscard]] std::optional<trace::TraceBuilder::Common> common(trace::LaneId lane, trace::StringId name,
                                                                  std::optional<Nanoseconds> start,
                                                                  std::optional<Nanoseconds> end,
                                                                  std::optional<std::int64_t> correlation = {});

  /// A text by its number; "(unnamed)", and counted, where there is none.
  [[nodiscard]] std::string_view text(std::optional<std::int64_t> id);

  void count(const DiagnosticKind& kind, std::int64_t times = 1) { diagnostics_.count(kind, file_, times); }
  [[nodiscard]] trace::TraceBuilder& builder() { return builder_; }
  [[nodiscard]] std::size_t rank_count() const { return owners_.size(); }

 private:
  /// Is told of lanes once: they are numbered in the order of their first use.
  [[nodiscard]] bool is_new(trace::LaneId lane);

  const Session& session_;
  std::string file_;
  trace::TraceBuilder& builder_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::int64_t, Owner> owners_;
  std::size_t lanes_ = 0;
};

}  // namespace interlace::ingest::nsys
