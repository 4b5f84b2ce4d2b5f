#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/session_rows.hpp"
#include "simulator/trace/trace.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {

/// Writes an .ilt trace (docs/ilt_format.md) while it is recorded. The calls are those of TraceBuilder, but nothing is
/// kept beyond the chunk being filled: whatever was flushed can be read, whether or not `close` is ever reached.
///
/// Operations may come in any order. The OperationId that an add gives is the operation's number in the file: a
/// SyncDetail::record or RangeDetail::forward_op names it, also before that operation is added. Each function throws
/// Error `ilt.cannot_write` where the stream fails and `ilt.too_large` where a limit of the format is met. One thread
/// at a time.
class IltWriter {
 public:
  struct Options {
    std::uint32_t operations_per_chunk = 65'536;  ///< 1 to 2^20
    int compression_level = 3;                    ///< zstd's
    std::uint64_t most_rows = UINT32_MAX;         ///< of a table; up to 2^32 - 1, the format's limit
    /// Numbers rows anew in each chunk, but for definitions, so that a recording may last for ever: for one who keeps a
    /// part of the chunks and numbers them himself. REQUIRES: no row refers to an operation, and `close` is not called.
    bool restarts_rows = false;
  };
  using Common = TraceBuilder::Common;

  /// Writes the file header and the schema. The stream must be binary and outlive the writer; place: the file's name,
  /// for errors.
  IltWriter(std::ostream& out, std::string place);
  IltWriter(std::ostream& out, std::string place, const Options& options);
  IltWriter(const IltWriter&) = delete;
  IltWriter& operator=(const IltWriter&) = delete;
  /// Writes nothing: a recording that was not closed reads as one.
  ~IltWriter();

  StringId intern(std::string_view text);
  /// The text's, where it was interned before; none where `intern` would add a row.
  [[nodiscard]] std::optional<StringId> known(std::string_view text) const;
  /// Where the rank was read from an .ilt file, what that was made from is kept as its source.
  RankId add_rank(const Rank& rank);
  LaneId lane(LaneKind kind, RankId rank, std::int64_t process, std::int64_t number);
  void name_lane(LaneId lane, std::string_view name);
  void set_priority(LaneId stream, std::int32_t priority);
  void set_handle(LaneId stream, std::uint64_t handle);
  /// Its time is on the recording's clock. Blocks up to 2^20 a state, else ilt.too_large.
  void add_allocator_state(const AllocatorState& state);

  OperationId add_kernel(const Common& common, const KernelDetail& detail);
  OperationId add_collective(const Common& common, const KernelDetail& detail,
                             const std::optional<CollectiveDetail>& collective);
  OperationId add_copy(const Common& common, const CopyDetail& detail);
  OperationId add_memset(const Common& common, const CopyDetail& detail);
  OperationId add_host_call(const Common& common);
  OperationId add_sync(OperationKind kind, const Common& common, const SyncDetail& detail);
  OperationId add_range(const Common& common, const RangeDetail& detail);
  OperationId add_device_range(const Common& common, const RangeDetail& detail);
  OperationId add_allocation(const Common& common, const AllocationDetail& detail);
  /// The counts add up with those written before.
  void add_diagnostics(const Diagnostics& diagnostics);
  void add_sync_fact(const SyncFact& fact);
  void add_clock(const ClockSnapshot& clock);
  /// A later row of a rank replaces the earlier.
  void add_ledger(const LedgerRow& row);

  /// Writes all that was added and flushes the stream.
  void flush();
  /// Flushes and writes the end chunk. Nothing can be added afterwards.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes the trace, and the diagnostics of its making, so that `read_ilt` gives both back equal. Overwrites the file.
/// Throws Error `ilt.cannot_write` or `ilt.too_large`.
void write_ilt(const Trace& trace, const Diagnostics& diagnostics, const std::filesystem::path& file);
void write_ilt(const Trace& trace, const std::filesystem::path& file);
/// As above, into a binary stream; place: its name, for errors.
void write_ilt(const Trace& trace, const Diagnostics& diagnostics, std::ostream& out, std::string place,
               const IltWriter::Options& options = IltWriter::Options());

}  // namespace interlace::trace
