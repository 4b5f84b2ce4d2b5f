#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/analysis/streams.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::gui {

/// What of a lane a row shows.
enum class Band : std::uint8_t {
  kWork,         ///< device work of a stream; calls and ranges of a host thread
  kRanges,       ///< named ranges of a stream
  kAllocations,  ///< events of the caching allocator on a host thread
};

using RowIndex = std::uint32_t;

/// How an operation is drawn.
enum class Look : std::uint8_t {
  kWork,     ///< device work, host calls
  kSpan,     ///< a range, in which these lie
  kBlocked,  ///< a host call that waits
};
[[nodiscard]] Look look_of(trace::OperationKind kind);

/// Operations of one lane of which none overlaps another, by start: so their ends are sorted, too. What drawing needs
/// of each is kept side by side here: in the trace it lies far apart, among the operations of other lanes.
struct Row {
  trace::LaneId lane;
  Band band = Band::kWork;
  std::uint32_t level = 0;  ///< in its band: nesting depth on a host thread; on a stream a further row for overlaps
  std::vector<trace::OperationId> operations;
  std::vector<Interval> spans;  ///< of each operation
  std::vector<Look> looks;

  void add(const trace::Trace& trace, trace::OperationId op);
};

/// What a lane is for, in the order in which lanes of a rank are shown.
enum class LaneUse : std::uint8_t {
  kMainThread,    ///< spends most time in annotations
  kLaunchThread,  ///< another host thread that launches device work (autograd)
  kStream,
  kOtherThread,
};

struct LaneRows {
  trace::LaneId lane;
  LaneUse use = LaneUse::kOtherThread;
  std::string title;                         ///< "stream 7", "thread 2128"
  std::string remark;                        ///< what it is for ("main", "copy") or its recorded name; may be empty
  std::optional<analysis::StreamRole> role;  ///< of a stream
  RowIndex first_row = 0;
  std::uint32_t work_rows = 0;  ///< come first, then ranges, then allocations
  std::uint32_t range_rows = 0;
  std::uint32_t allocation_rows = 0;

  [[nodiscard]] std::uint32_t rows() const { return work_rows + range_rows + allocation_rows; }
};

/// All lanes of a trace that hold anything, rank by rank, and the rows that show every operation exactly once.
struct Lanes {
  std::vector<LaneRows> lanes;
  std::vector<Row> rows;
};

/// An operation goes to the first row that is free at its start, on a host thread only below those that hold it: there
/// a row is a depth of nesting. Work of a stream that runs at the same time stands below each other.
[[nodiscard]] Lanes lay_out(const trace::Trace& trace);

/// A stream as it was named, without its priority, else by its number; with its number, too, where the rank has several
/// of that name.
[[nodiscard]] std::string stream_name(const trace::Trace& trace, trace::LaneId stream);

/// The row of an operation. None where `lanes` is of another trace.
[[nodiscard]] std::optional<RowIndex> row_of(const Lanes& lanes, const trace::Trace& trace, trace::OperationId op);

/// The operation of a row that is running at t, or else the nearest that is no further than `within` from it.
[[nodiscard]] std::optional<trace::OperationId> operation_at(const Row& row, Nanoseconds t, Nanoseconds within);

}  // namespace interlace::gui
