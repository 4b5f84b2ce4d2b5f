#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
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

inline constexpr DiagnosticKind kWriteFailed{
    "record.write_failed", Severity::kDataLoss, "recordings that could not be written to their program's end",
    "all after that is missing; make room on the disk, or record less (--light, --max-mb, a part)"};

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
    Bytes most = 0;        ///< and of that no more than so; 0: any number
    std::uint64_t most_rows = trace::IltWriter::Options().most_rows;  ///< of a table
  };
  RecordingFile(Facts facts, TraceRows::Source source);

  /// What writes the file, as its rank says; before it is made.
  void set_producer(std::string producer) { facts_.producer = std::move(producer); }
  [[nodiscard]] bool is_open() const { return rows_ != nullptr; }
  /// Makes the file. Throws Error `record.cannot_create`.
  void open(std::vector<trace::Device> devices);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Bytes of the recording so far: written, or kept in memory.
  [[nodiscard]] Bytes size() const { return ring_ ? ring_->bytes() : output_.size(); }
  /// By how many it grew so far, with those that are not kept any more.
  [[nodiscard]] Bytes grown() const { return ring_ ? ring_->taken() : output_.size(); }
  /// Whether less is kept in memory than was asked for, for its size.
  [[nodiscard]] bool is_cut() const { return ring_ && ring_->is_cut(); }
  /// See FileOutput.
  void abandon() noexcept;

  /// REQUIRES for all below: is_open().
  [[nodiscard]] TraceRows& rows() { return *rows_; }
  [[nodiscard]] LaunchLedger& ledger() { return ledger_; }
  void add_clock(trace::ClockSnapshot clocks);
  void add_allocator_state(trace::AllocatorState state);
  void add_diagnostics(const Diagnostics& diagnostics);
  /// Writes what is kept in memory in place of what the file holds, which is there until all is written; nothing where
  /// none is. progress: to be called whenever some is written.
  void dump(const std::function<void()>& progress = [] {});
  /// Where one of these threw: writes what is kept in memory as the whole file, which says why it ends; nothing where
  /// none is kept. Nothing else is to be called then.
  void rescue(
      std::string_view why, const std::function<void()>& progress = [] {});
  /// Writes all so far, and the account of it.
  void flush(Nanoseconds now);
  /// Writes the final account and ends the file. progress: as of dump.
  void close(
      Nanoseconds now, const std::function<void()>& progress = [] {});

 private:
  void add_ledger(Nanoseconds now, bool is_final);
  void write_ring(const std::function<void()>& progress);
  void close_output();
  void end_ring(Diagnostics why);

  Facts facts_;
  TraceRows::Source source_;
  std::filesystem::path path_;
  FileOutput output_;
  FileOutput fresh_;  ///< what is to take its place, while it is written
  std::optional<FlightRing> ring_;
  Diagnostics said_;  ///< all, where they are kept in memory
  std::ostream stream_;
  trace::RankId rank_;
  LaunchLedger ledger_;
  std::optional<trace::IltWriter> writer_;
  std::unique_ptr<TraceRows> rows_;
};

}  // namespace interlace::collector
