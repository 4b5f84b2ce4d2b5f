#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cupti_collector/clock.hpp"
#include "cupti_collector/file_output.hpp"
#include "cupti_collector/flight_ring.hpp"
#include "cupti_collector/launch_ledger.hpp"
#include "cupti_collector/rank_identity.hpp"
#include "cupti_collector/trace_rows.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::collector {

inline constexpr ErrorCode kCannotCreate{"record.cannot_create"};
inline constexpr DiagnosticKind kFlightRecorder{"record.last_part", Severity::kInfo,
                                                "recordings that hold only the last part of their program (--last)",
                                                "calls and waits at its beginning may lack what they refer to"};

/// The .ilt file of one process. It is made when there is something to write, so that processes that only start others
/// leave none. Each function throws Error `ilt.cannot_write` where writing fails.
class RecordingFile {
 public:
  struct Facts {
    std::filesystem::path folder;
    RankIdentity identity;
    std::string run_id;
    std::string producer;
    Nanoseconds last = 0;  ///< keep so much in memory and write it when asked and at the end; 0: write all at once
  };
  RecordingFile(Facts facts, TraceRows::Source source);

  /// What writes the file, as its rank says; before it is made.
  void set_producer(std::string producer) { facts_.producer = std::move(producer); }
  [[nodiscard]] bool is_open() const { return rows_ != nullptr; }
  /// Makes the file. Throws Error `record.cannot_create`.
  void open(std::vector<trace::Device> devices);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Bytes written.
  [[nodiscard]] Bytes size() const { return output_.size(); }
  /// Bytes of the recording so far, written or kept.
  [[nodiscard]] Bytes recorded() const { return recorded_; }
  [[nodiscard]] int descriptor() const { return output_.descriptor(); }

  /// REQUIRES for all below: is_open().
  [[nodiscard]] TraceRows& rows() { return *rows_; }
  [[nodiscard]] LaunchLedger& ledger() { return ledger_; }
  void add_clock(trace::ClockSnapshot clocks);
  void add_allocator_state(trace::AllocatorState state);
  void add_diagnostics(const Diagnostics& diagnostics);
  /// Writes what is kept in memory in place of what the file holds; nothing where none is.
  void dump();
  /// Writes all so far, and the account of it.
  void flush(Nanoseconds now);
  /// Writes the final account and ends the file.
  void close(Nanoseconds now);

 private:
  void add_ledger(Nanoseconds now, bool is_final);

  Facts facts_;
  TraceRows::Source source_;
  std::filesystem::path path_;
  FileOutput output_;
  std::optional<FlightRing> ring_;
  Bytes recorded_ = 0;
  std::ostream stream_;
  trace::RankId rank_;
  LaunchLedger ledger_;
  std::optional<trace::IltWriter> writer_;
  std::unique_ptr<TraceRows> rows_;
};

}  // namespace interlace::collector
