#include "simulator/trace/ilt/writer.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <ostream>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/column_writer.hpp"
#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/fields.hpp"
#include "simulator/trace/lane_key.hpp"

namespace interlace::trace {

using namespace ilt;  // this file is the format's own

namespace {

/// Definitions are written once they take so much; a chunk then stays far below its limit.
constexpr std::size_t kBytesPerChunk = 1U << 20U;

const Note& note_of(const IltWriter::Common& common) {
  static const Note kNone;
  return common.note == nullptr ? kNone : *common.note;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

}  // namespace

struct IltWriter::State {
  std::ostream& out;
  std::string place;
  Options options;
  ChunkPacker packer;
  ColumnWriter columns;
  struct Table {
    std::uint64_t first_row = 0;
    std::uint32_t rows = 0;

    [[nodiscard]] std::uint64_t total() const { return first_row + rows; }
  };
  std::array<Table, kChunkTypes> tables{};
  std::unordered_map<std::string, StringId, TextHash, std::equal_to<>> string_ids;
  std::unordered_map<LaneKey, LaneId, LaneKeyHash> lane_ids;
  struct KnownLane {
    Lane lane;
    std::uint64_t newest_row = 0;
  };
  std::unordered_map<LaneId, KnownLane> lanes;
  /// The lanes of the rows not yet written. What is learned of a lane changes its row there; of a lane whose row is
  /// written already, another row is written.
  std::vector<LaneId> new_lane_rows;
  bool is_closed = false;

  State(std::ostream& stream, std::string name, const Options& chosen)
      : out(stream), place(std::move(name)), options(chosen), packer(chosen.compression_level) {}

  Table& table(ChunkType type) { return tables[static_cast<std::size_t>(type)]; }

  /// Takes the number of the next row of a table.
  std::uint32_t add_row(ChunkType type) {
    assert(!is_closed);
    Table& rows = table(type);
    if (rows.total() >= options.most_rows) {
      throw Error(kTooLarge, place, "a table of " + std::string(to_string(type)) + " takes no more rows",
                  "record a shorter span");
    }
    ++rows.rows;
    return static_cast<std::uint32_t>(rows.total() - 1);
  }

  void put(BytesView bytes) {
    errno = 0;
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    check_stream();
  }

  void flush_stream() {
    errno = 0;
    out.flush();
    check_stream();
  }

  /// errno: 0, or as what lies under the stream left it.
  void check_stream() const {
    if (out) return;
    const std::string why = errno == 0 ? std::string() : ": " + std::generic_category().message(errno);
    throw Error(kCannotWrite, place, "writing failed" + why, "check its disk, and the room there");
  }

  void put_chunk(ChunkType type, BytesView payload) {
    Table& rows = table(type);
    try {
      put(packer.pack(type, rows.first_row, rows.rows, payload));
    } catch (const Malformed& limit) {
      throw Error(limit.code, place, limit.problem);
    }
    rows = {options.restarts_rows && !is_definition(type) ? 0 : rows.total(), 0};
  }

  void flush_table(ChunkType type) {
    if (table(type).rows == 0) return;
    if (type == ChunkType::kLanes) {
      for (const LaneId id : std::exchange(new_lane_rows, {})) {
        columns.field(Column::kLaneRank, lanes.at(id).lane.rank);
        lane_fields(columns, lanes.at(id).lane);
      }
    }
    put_chunk(type, columns.take(type));
  }

  /// Writes the rows of the table, and before them those of all tables that it may refer to.
  void flush_until(ChunkType last) {
    for (const auto type :
         {ChunkType::kStrings, ChunkType::kRanks, ChunkType::kAllocatorStates, ChunkType::kLanes,
          ChunkType::kDiagnostics, ChunkType::kOperations, ChunkType::kSyncs, ChunkType::kClocks, ChunkType::kLedger}) {
      flush_table(type);
      if (type == last) return;
    }
  }

  void flush_if_large(ChunkType type) {
    const bool is_large = table(type).rows >= options.operations_per_chunk || columns.bytes(type) >= kBytesPerChunk;
    if (is_large) flush_until(type);
  }

  void add_lane_row(LaneId id) {
    flush_if_large(ChunkType::kLanes);
    lanes.at(id).newest_row = add_row(ChunkType::kLanes);
    new_lane_rows.push_back(id);
  }

  /// The lane, to be changed: what is written of it next will say so.
  Lane& change_lane(LaneId id) {
    KnownLane& known = lanes.at(id);
    if (known.newest_row < table(ChunkType::kLanes).first_row) add_lane_row(id);
    return known.lane;
  }

  OperationId add(OperationKind kind, const Common& common) {
    if (table(ChunkType::kOperations).rows >= options.operations_per_chunk) flush_until(ChunkType::kOperations);
    const OperationId id{add_row(ChunkType::kOperations)};
    columns.field(Column::kKind, kind);
    columns.field(Column::kLane, common.lane);
    columns.field(Column::kName, common.name);
    columns.field(Column::kStart, common.start);
    columns.field(Column::kDuration, common.duration);
    if (is_device_work(kind)) {
      columns.field(Column::kWorkCorrelation, common.correlation);
    } else if (kind <= OperationKind::kHostSync) {
      columns.field(Column::kCallCorrelation, common.correlation);
      external_fields(columns, note_of(common).external);
    }
    return id;
  }
};

IltWriter::IltWriter(std::ostream& out, std::string place) : IltWriter(out, std::move(place), Options()) {}

IltWriter::IltWriter(std::ostream& out, std::string place, const Options& options)
    : state_(std::make_unique<State>(out, std::move(place), options)) {
  assert(options.operations_per_chunk > 0 && options.operations_per_chunk <= kMaxChunkRows);
  assert(options.most_rows <= kMaxTableRows);
  state_->put(file_header());
  state_->table(ChunkType::kSchema).rows = kColumns;
  state_->put_chunk(ChunkType::kSchema, schema_payload());
}

IltWriter::~IltWriter() = default;

std::optional<StringId> IltWriter::known(std::string_view text) const {
  const auto found = state_->string_ids.find(text);
  return found == state_->string_ids.end() ? std::nullopt : std::optional(found->second);
}

StringId IltWriter::intern(std::string_view text) {
  if (const auto before = known(text)) return *before;
  const StringId id{state_->add_row(ChunkType::kStrings)};
  const auto entry = state_->string_ids.emplace(std::string(text), id).first;
  state_->columns.field(Column::kStringText, entry->first);
  state_->flush_if_large(ChunkType::kStrings);
  return id;
}

RankId IltWriter::add_rank(const Rank& rank) {
  const RankId id{state_->add_row(ChunkType::kRanks)};
  Rank recorded = rank;
  if (!rank.recorded_as.empty()) recorded.source = rank.recorded_as;
  rank_fields(state_->columns, std::as_const(recorded));
  state_->columns.field(Column::kRankDevices, rank.devices.size());
  for (const Device& device : rank.devices) device_fields(state_->columns, device);
  state_->flush_if_large(ChunkType::kRanks);
  return id;
}

LaneId IltWriter::lane(LaneKind kind, RankId rank, std::int64_t process, std::int64_t number) {
  assert(rank.index() < state_->table(ChunkType::kRanks).total());
  const LaneKey key{kind, rank, process, number};
  if (const auto known = state_->lane_ids.find(key); known != state_->lane_ids.end()) return known->second;
  state_->flush_if_large(ChunkType::kLanes);
  const LaneId id{static_cast<std::uint32_t>(state_->table(ChunkType::kLanes).total())};
  state_->lane_ids.emplace(key, id);
  state_->lanes.emplace(id, State::KnownLane{{kind, rank, process, number, {}, {}, {}}, 0});
  state_->add_lane_row(id);
  return id;
}

void IltWriter::name_lane(LaneId lane, std::string_view name) { state_->change_lane(lane).name = name; }

void IltWriter::set_priority(LaneId stream, std::int32_t priority) { state_->change_lane(stream).priority = priority; }

void IltWriter::set_handle(LaneId stream, std::uint64_t handle) { state_->change_lane(stream).handle = handle; }

void IltWriter::add_allocator_state(const AllocatorState& state) {
  assert(state.rank.index() < state_->table(ChunkType::kRanks).total());
  std::size_t blocks = 0;
  for (const AllocatorSegment& segment : state.segments) blocks += segment.blocks.size();
  if (blocks > kMaxChunkRows || state.segments.size() > kMaxChunkRows) {
    throw Error(kTooLarge, state_->place, "an allocator state has more than 2^20 segments or blocks",
                "leave the allocator's state out");
  }
  // A state stands in one chunk, whole or not at all.
  state_->flush_until(ChunkType::kAllocatorStates);
  state_->add_row(ChunkType::kAllocatorStates);
  ColumnWriter& columns = state_->columns;
  columns.field(Column::kStateRank, state.rank);
  state_fields(columns, state);
  columns.field(Column::kStateSegments, state.segments.size());
  for (const AllocatorSegment& segment : state.segments) {
    segment_fields(columns, segment);
    columns.field(Column::kSegmentBlocks, segment.blocks.size());
    for (const AllocatorBlock& block : segment.blocks) block_fields(columns, block);
  }
}

OperationId IltWriter::add_kernel(const Common& common, const KernelDetail& detail) {
  const OperationId id = state_->add(OperationKind::kKernel, common);
  kernel_fields(state_->columns, detail);
  return id;
}

OperationId IltWriter::add_collective(const Common& common, const KernelDetail& detail,
                                      const std::optional<CollectiveDetail>& collective) {
  const OperationId id = state_->add(OperationKind::kCollective, common);
  kernel_fields(state_->columns, detail);
  state_->columns.field(Column::kCollectiveFunction, collective ? std::optional(collective->function) : std::nullopt);
  if (collective) collective_fields(state_->columns, *collective);
  return id;
}

OperationId IltWriter::add_copy(const Common& common, const CopyDetail& detail) {
  const OperationId id = state_->add(OperationKind::kCopy, common);
  copy_fields(state_->columns, detail);
  return id;
}

OperationId IltWriter::add_memset(const Common& common, const CopyDetail& detail) {
  const OperationId id = state_->add(OperationKind::kMemset, common);
  copy_fields(state_->columns, detail);
  return id;
}

OperationId IltWriter::add_host_call(const Common& common) {
  const OperationId id = state_->add(OperationKind::kHostCall, common);
  state_->columns.field(Column::kSyncKind, std::optional<SyncKind>());
  return id;
}

OperationId IltWriter::add_sync(OperationKind kind, const Common& common, const SyncDetail& detail) {
  assert(kind >= OperationKind::kHostCall && kind <= OperationKind::kHostSync);
  const OperationId id = state_->add(kind, common);
  state_->columns.field(Column::kSyncKind, std::optional(detail.kind));
  sync_fields(state_->columns, detail);
  return id;
}

OperationId IltWriter::add_range(const Common& common, const RangeDetail& detail) {
  const OperationId id = state_->add(OperationKind::kRange, common);
  range_fields(state_->columns, detail);
  range_note_fields(state_->columns, note_of(common));
  return id;
}

OperationId IltWriter::add_device_range(const Common& common, const RangeDetail& detail) {
  const OperationId id = state_->add(OperationKind::kDeviceRange, common);
  range_fields(state_->columns, detail);
  range_note_fields(state_->columns, note_of(common));
  return id;
}

OperationId IltWriter::add_allocation(const Common& common, const AllocationDetail& detail) {
  const OperationId id = state_->add(OperationKind::kAllocation, common);
  allocation_fields(state_->columns, detail);
  return id;
}

void IltWriter::add_diagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& entry : diagnostics.entries()) {
    state_->add_row(ChunkType::kDiagnostics);
    diagnostic_fields(state_->columns, entry);
    state_->flush_if_large(ChunkType::kDiagnostics);
  }
}

void IltWriter::add_sync_fact(const SyncFact& fact) {
  state_->flush_if_large(ChunkType::kSyncs);
  state_->add_row(ChunkType::kSyncs);
  state_->columns.field(Column::kSyncsRank, fact.rank);
  sync_fact_fields(state_->columns, fact);
}

void IltWriter::add_clock(const ClockSnapshot& clock) {
  state_->flush_if_large(ChunkType::kClocks);
  state_->add_row(ChunkType::kClocks);
  state_->columns.field(Column::kClocksRank, clock.rank);
  clock_fields(state_->columns, clock);
}

void IltWriter::add_ledger(const LedgerRow& row) {
  state_->flush_if_large(ChunkType::kLedger);
  state_->add_row(ChunkType::kLedger);
  state_->columns.field(Column::kLedgerRank, row.rank);
  ledger_fields(state_->columns, row);
}

void IltWriter::flush() {
  state_->flush_until(ChunkType::kLedger);
  state_->flush_stream();
}

void IltWriter::close() {
  assert(!state_->options.restarts_rows);
  state_->flush_until(ChunkType::kLedger);
  state_->add_row(ChunkType::kEnd);
  for (const auto& [column, table] : kEndTotals) state_->columns.field(column, state_->table(table).total());
  state_->flush_table(ChunkType::kEnd);
  flush();
  state_->is_closed = true;
}

}  // namespace interlace::trace
