#include "simulator/trace/ilt/reader.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "simulator/base/physical_memory.hpp"
#include "simulator/base/saturating.hpp"
#include "simulator/base/whole_file.hpp"
#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/fields.hpp"
#include "simulator/trace/ilt/row_source.hpp"
#include "simulator/trace/ilt/sync_join.hpp"
#include "simulator/trace/limits.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {

using namespace ilt;  // this file is the format's own

namespace {

constexpr std::size_t kMostFlaws = 1024;  ///< several times the kinds that there are
/// Definitions of lost chunks are kept account of one by one; no recorder writes nearly so many.
constexpr std::uint64_t kMostLostDefinitions = std::uint64_t{1} << 23;

/// What its segments have, or its blocks, where these have more.
Bytes held_by(const AllocatorState& state) {
  Bytes in_segments = 0;
  Bytes in_blocks = 0;
  for (const AllocatorSegment& segment : state.segments) {
    in_segments = saturating_sum(in_segments, segment.bytes);
    for (const AllocatorBlock& block : segment.blocks) {
      in_blocks = saturating_sum(in_blocks, std::max(block.bytes, block.requested));
    }
  }
  return std::max(in_segments, in_blocks);
}

/// Feeds the chunks of one file to a TraceBuilder. Rows are numbered through the file, so a gap between the rows of two
/// chunks of a table tells how many were lost between them.
class IltReader {
 public:
  IltReader(BytesView file, std::string place) : place_(std::move(place)), scanner_(file, place_) {}

  Trace read(BytesView file, Diagnostics& diagnostics);

 private:
  void read_chunk(const StoredChunk& chunk);
  void read_strings(const ChunkHeader& header, RowSource& source);
  void read_ranks(const ChunkHeader& header, RowSource& source, ChunkColumns& columns);
  void read_lanes(const ChunkHeader& header, RowSource& source);
  void read_allocator_states(const ChunkHeader& header, RowSource& source, ChunkColumns& columns);
  static void read_segments(std::vector<AllocatorSegment>& segments, RowSource& source, ChunkColumns& columns);
  void read_operations(const ChunkHeader& header, RowSource& source);
  void read_diagnostics(const ChunkHeader& header, RowSource& source);
  void read_end(RowSource& source);
  void read_sync_facts(const ChunkHeader& header, RowSource& source);
  void read_ledger(const ChunkHeader& header, RowSource& source);

  void expect_rows(ChunkType type, std::uint64_t first_row);
  void skip_definitions(ChunkType type, std::uint64_t first_row);
  std::optional<OperationId> add_operation(OperationKind kind, const TraceBuilder::Common& common, RowSource& source,
                                           bool is_usable);
  std::optional<OperationId> add_host_call(OperationKind kind, const TraceBuilder::Common& common, RowSource& source,
                                           bool is_usable);
  std::optional<LaneId> lane_of_row(std::uint32_t row);
  std::optional<RankId> rank_of_row(std::uint32_t row);
  void count_lost_rows(ChunkType type, std::uint64_t rows);
  void count_lost_end();
  void resolve_references();
  [[nodiscard]] std::optional<OperationId> resolve(std::optional<OperationId> row);
  void merge_diagnostics(const Diagnostics& found_by_builder, Diagnostics& diagnostics) const;

  std::string place_;
  ChunkScanner scanner_;
  ChunkUnpacker unpacker_;
  Schema schema_;
  TraceBuilder builder_;
  RowIds ids_;
  std::array<std::uint64_t, kChunkTypes> rows_read_{};  ///< the number that the next row of each table has
  std::optional<ChunkType> last_chunk_;
  std::vector<OperationId> with_record_;      ///< syncs whose record still is a row of the file
  std::vector<OperationId> with_forward_op_;  ///< ranges whose forward_op still is a row of the file
  SyncJoin syncs_;
  std::map<RankId, LedgerRow> ledger_;  ///< the last row of each rank
  Diagnostics stored_;                  ///< what the file itself says
  Diagnostics found_;
  Bytes bytes_in_all_ = 0;  ///< of the allocations
  std::uint64_t lost_definitions_ = 0;
};

/// A chunk of equal rows takes next to nothing in a file.
void refuse_more_than_memory(std::uint64_t operations) {
  constexpr std::uint64_t kBytesEach = 64;  // of a trace, at least
  const auto memory = physical_memory();
  if (!memory || operations < static_cast<std::uint64_t>(*memory) / kBytesEach) return;
  throw Malformed{kTooLarge, std::to_string(operations) + " operations take more memory than this machine has"};
}

Trace IltReader::read(BytesView file, Diagnostics& diagnostics) {
  std::size_t at = 0;
  try {
    check_file_header(file);
    at = scanner_.position();
    const std::uint64_t operations = scanner_.rows_ahead(ChunkType::kOperations);
    refuse_more_than_memory(operations);
    // Headers can lie: rows of most honest files take some bytes each.
    builder_.reserve(std::min<std::uint64_t>(operations, file.size()));
    while (const auto chunk = scanner_.next(found_)) {
      at = chunk->at;
      ids_.is_damaged = scanner_.lost_bytes() > 0;
      read_chunk(*chunk);
      at = scanner_.position();
    }
    ids_.is_damaged = scanner_.lost_bytes() > 0;
    count_lost_end();
    resolve_references();
    syncs_.complete(builder_, found_);
    for (const auto& [rank, row] : ledger_) count_losses(row, place_, found_);
  } catch (const Malformed& malformed) {
    throw Error(malformed.code, place_ + " byte " + std::to_string(at), malformed.problem);
  }
  Diagnostics found_by_builder;
  Trace trace = std::move(builder_).build(found_by_builder);
  merge_diagnostics(found_by_builder, diagnostics);
  return trace;
}

void IltReader::read_chunk(const StoredChunk& chunk) {
  const ChunkHeader& header = chunk.header;
  const auto type = static_cast<ChunkType>(header.type);
  last_chunk_ = type;
  if (!is_known(header.type)) {
    found_.count(kUnknownChunk, place_ + " byte " + std::to_string(chunk.at) + ": type " + std::to_string(header.type));
    return;
  }
  const BytesView payload = unpacker_.unpack(chunk);
  expect_rows(type, header.first_row);
  rows_read_[header.type] = header.first_row + header.rows;
  if (type == ChunkType::kSchema) {
    schema_.add(payload, header.rows, found_);
    return;
  }
  if (type == ChunkType::kClocks) return;  // a Trace has one clock; read_session gives the others
  ChunkColumns columns(payload, type, schema_, ids_.is_damaged);
  RowSource source(columns, ids_, builder_, found_);
  switch (type) {
    case ChunkType::kStrings: read_strings(header, source); break;
    case ChunkType::kRanks: read_ranks(header, source, columns); break;
    case ChunkType::kLanes: read_lanes(header, source); break;
    case ChunkType::kAllocatorStates: read_allocator_states(header, source, columns); break;
    case ChunkType::kOperations: read_operations(header, source); break;
    case ChunkType::kDiagnostics: read_diagnostics(header, source); break;
    case ChunkType::kEnd: read_end(source); break;
    case ChunkType::kSyncs: read_sync_facts(header, source); break;
    case ChunkType::kLedger: read_ledger(header, source); break;
    case ChunkType::kSchema:
    case ChunkType::kClocks: break;
  }
  columns.check_used_up();
}

/// Accounts for rows that are missing before `first_row`. Each took at least a byte of a chunk, so what is missing in
/// the file bounds them.
void IltReader::expect_rows(ChunkType type, std::uint64_t first_row) {
  const std::uint64_t expected = rows_read_[static_cast<std::size_t>(type)];
  const std::uint64_t most_lost = kMaxExpansion * scanner_.lost_bytes();
  if (first_row < expected || first_row - expected > most_lost) {
    throw Malformed{kInvalid, "rows of " + std::string(to_string(type)) + " go on at " + std::to_string(first_row) +
                                  " after " + std::to_string(expected)};
  }
  if (first_row == expected) return;
  count_lost_rows(type, first_row - expected);
  if (type == ChunkType::kOperations) ids_.operations.skip_to(first_row);
  if (is_definition(type) && type != ChunkType::kSchema) skip_definitions(type, first_row);
}

/// A false number must not ask for much memory: what is missing in a file of some megabytes bounds them by gigabytes.
void IltReader::skip_definitions(ChunkType type, std::uint64_t first_row) {
  lost_definitions_ += first_row - rows_read_[static_cast<std::size_t>(type)];
  if (lost_definitions_ > kMostLostDefinitions) {
    throw Malformed{kTooLarge, "the damage took " + std::to_string(lost_definitions_) +
                                   " names, ranks and lanes, by the number of the next of the " +
                                   std::string(to_string(type))};
  }
  switch (type) {
    case ChunkType::kStrings: ids_.strings.resize(first_row); break;
    case ChunkType::kRanks: ids_.ranks.resize(first_row); break;
    case ChunkType::kLanes: ids_.lanes.resize(first_row); break;
    default: break;
  }
}

void IltReader::read_strings(const ChunkHeader& header, RowSource& source) {
  std::string text;
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    source.field(Column::kStringText, text);
    ids_.strings.emplace_back(builder_.intern(text));
  }
}

void IltReader::read_ranks(const ChunkHeader& header, RowSource& source, ChunkColumns& columns) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    Rank rank = read_rank(source, columns);
    if (!rank.source.empty()) rank.recorded_as = std::exchange(rank.source, place_);
    ids_.ranks.emplace_back(builder_.add_rank(std::move(rank)));
  }
}

void IltReader::read_lanes(const ChunkHeader& header, RowSource& source) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    const auto rank = rank_of_row(source.row_number(Column::kLaneRank));
    Lane lane;
    lane_fields(source, lane);
    if (source.take_unknown_row() || !rank) {
      if (!rank) found_.count(kLostReferences, "lanes.rank");
      ids_.lanes.emplace_back();
      continue;
    }
    const LaneId id = builder_.lane(lane.kind, *rank, lane.process, lane.number);
    if (!lane.name.empty()) builder_.name_lane(id, lane.name);
    if (lane.priority) builder_.set_priority(id, *lane.priority);
    if (lane.handle) builder_.set_handle(id, *lane.handle);
    ids_.lanes.emplace_back(id);
  }
}

void IltReader::read_allocator_states(const ChunkHeader& header, RowSource& source, ChunkColumns& columns) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    const auto rank = rank_of_row(source.row_number(Column::kStateRank));
    AllocatorState state;
    state_fields(source, state);
    read_segments(state.segments, source, columns);
    if (held_by(state) > kLargestAmount) throw Malformed{kInvalid, "an allocator holds more than a machine has"};
    const bool is_in_time = !state.time || (*state.time >= kEarliestTime && *state.time <= kLatestTime);
    if (!rank) found_.count(kLostReferences, "allocator_states.rank");
    if (!is_in_time) found_.count(kTimeOutOfRange, place_ + ": an allocator state");
    if (!rank || !is_in_time) continue;
    state.rank = *rank;
    builder_.add_allocator_state(std::move(state));
  }
}

void IltReader::read_segments(std::vector<AllocatorSegment>& segments, RowSource& source, ChunkColumns& columns) {
  std::uint64_t count = 0;
  source.field(Column::kStateSegments, count);
  if (count > columns[Column::kSegmentAddress].rows_left()) {
    throw Malformed{kInvalid, "an allocator state has more segments than the chunk"};
  }
  segments.resize(count);
  for (AllocatorSegment& segment : segments) {
    segment_fields(source, segment);
    std::uint64_t blocks = 0;
    source.field(Column::kSegmentBlocks, blocks);
    if (blocks > columns[Column::kBlockAddress].rows_left()) {
      throw Malformed{kInvalid, "a segment has more blocks than the chunk"};
    }
    segment.blocks.resize(blocks);
    for (AllocatorBlock& block : segment.blocks) block_fields(source, block);
  }
}

std::optional<RankId> IltReader::rank_of_row(std::uint32_t row) {
  if (row < ids_.ranks.size()) return ids_.ranks[row];
  if (!ids_.is_damaged) throw Malformed{kInvalid, "a row is of no rank"};
  return std::nullopt;
}

std::optional<LaneId> IltReader::lane_of_row(std::uint32_t row) {
  if (row < ids_.lanes.size()) return ids_.lanes[row];
  if (!ids_.is_damaged) throw Malformed{kInvalid, "an operation is on no lane"};
  return std::nullopt;
}

void IltReader::read_operations(const ChunkHeader& header, RowSource& source) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    auto kind = OperationKind::kKernel;
    source.field(Column::kKind, kind);
    const bool is_known = !source.take_unknown_row();
    const auto lane = lane_of_row(source.row_number(Column::kLane));
    TraceBuilder::Common common{.lane = lane.value_or(LaneId{})};
    Note note;
    source.field(Column::kName, common.name);
    source.field(Column::kStart, common.start);
    source.field(Column::kDuration, common.duration);
    if (!is_known) {
      ids_.operations.push_back(std::nullopt);
      continue;
    }
    if (is_device_work(kind)) {
      source.field(Column::kWorkCorrelation, common.correlation);
    } else if (kind <= OperationKind::kHostSync) {
      source.field(Column::kCallCorrelation, common.correlation);
      external_fields(source, note.external);
    }
    if (note.external) common.note = &note;
    const bool is_in_time = common.start >= kEarliestTime && common.start <= kLatestTime &&
                            common.duration >= -kLongestDuration && common.duration <= kLongestDuration;
    if (!is_in_time) found_.count(kTimeOutOfRange, place_ + ": operation " + std::to_string(ids_.operations.size()));
    if (!lane) found_.count(kLostOperations, place_ + ": operations of a lost lane");
    ids_.operations.push_back(add_operation(kind, common, source, is_in_time && lane.has_value()));
  }
}

/// Reads the details, which must be taken from their columns in any case, and adds the operation where it is usable.
std::optional<OperationId> IltReader::add_operation(OperationKind kind, const TraceBuilder::Common& common,
                                                    RowSource& source, bool is_usable) {
  switch (kind) {
    case OperationKind::kKernel: {
      KernelDetail kernel;
      kernel_fields(source, kernel);
      return is_usable ? std::optional(builder_.add_kernel(common, kernel)) : std::nullopt;
    }
    case OperationKind::kCollective: {
      KernelDetail kernel;
      kernel_fields(source, kernel);
      std::optional<CollectiveFunction> function;
      source.field(Column::kCollectiveFunction, function);
      std::optional<CollectiveDetail> detail;
      if (function) {
        detail.emplace().function = *function;
        collective_fields(source, *detail);
      }
      return is_usable ? std::optional(builder_.add_collective(common, kernel, detail)) : std::nullopt;
    }
    case OperationKind::kCopy:
    case OperationKind::kMemset: {
      CopyDetail copy;
      copy_fields(source, copy);
      if (!is_usable) return std::nullopt;
      return kind == OperationKind::kCopy ? builder_.add_copy(common, copy) : builder_.add_memset(common, copy);
    }
    case OperationKind::kHostCall:
    case OperationKind::kEventRecord:
    case OperationKind::kStreamWait:
    case OperationKind::kHostSync: return add_host_call(kind, common, source, is_usable);
    case OperationKind::kRange:
    case OperationKind::kDeviceRange: {
      RangeDetail range;
      range_fields(source, range);
      Note note;
      range_note_fields(source, note);
      if (!is_usable) return std::nullopt;
      TraceBuilder::Common noted = common;
      if (note != Note()) noted.note = &note;
      const OperationId id =
          kind == OperationKind::kRange ? builder_.add_range(noted, range) : builder_.add_device_range(noted, range);
      if (range.forward_op) with_forward_op_.push_back(id);
      return id;
    }
    case OperationKind::kAllocation: {
      AllocationDetail allocation;
      allocation_fields(source, allocation);
      bytes_in_all_ += std::max(allocation.bytes, std::min(allocation.requested.value_or(0), kLargestAmount));
      if (bytes_in_all_ > kLargestAmountInAll) throw Malformed{kInvalid, "allocations of more memory than there is"};
      const bool is_known = !source.take_unknown_row();
      return is_usable && is_known ? std::optional(builder_.add_allocation(common, allocation)) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<OperationId> IltReader::add_host_call(OperationKind kind, const TraceBuilder::Common& common,
                                                    RowSource& source, bool is_usable) {
  std::optional<SyncKind> sync_kind;
  source.field(Column::kSyncKind, sync_kind);
  SyncDetail sync;
  if (sync_kind) {
    sync.kind = *sync_kind;
    sync_fields(source, sync);
  }
  if (!is_usable) return std::nullopt;
  if (!sync_kind && kind == OperationKind::kHostCall) return builder_.add_host_call(common);
  const OperationId id = builder_.add_sync(kind, common, sync);
  if (common.correlation) {
    syncs_.add_call(builder_.lane_info(common.lane).rank, *common.correlation, common.start, id);
  }
  if (sync.record) with_record_.push_back(id);
  return id;
}

void IltReader::read_diagnostics(const ChunkHeader& header, RowSource& source) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    Diagnostic entry{.severity = Severity::kWarning};
    diagnostic_fields(source, entry);
    if (stored_.entries().size() == kMostFlaws) throw Malformed{kInvalid, "more kinds of flaws than there are"};
    stored_.add(entry);
  }
}

void IltReader::read_end(RowSource& source) {
  for (const auto& [column, type] : kEndTotals) {
    std::uint64_t rows = rows_read_[static_cast<std::size_t>(type)];
    source.field(column, rows);
    expect_rows(type, rows);
    rows_read_[static_cast<std::size_t>(type)] = rows;
  }
}

void IltReader::read_sync_facts(const ChunkHeader& header, RowSource& source) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    const auto rank = rank_of_row(source.row_number(Column::kSyncsRank));
    SyncFact fact{.rank = rank.value_or(RankId{})};
    sync_fact_fields(source, fact);
    if (rank) syncs_.add_fact(fact);
    if (!rank) found_.count(kLostReferences, "syncs.rank");
  }
}

void IltReader::read_ledger(const ChunkHeader& header, RowSource& source) {
  for (std::uint32_t i = 0; i < header.rows; ++i) {
    const auto rank = rank_of_row(source.row_number(Column::kLedgerRank));
    LedgerRow row{.rank = rank.value_or(RankId{})};
    ledger_fields(source, row);
    if (rank) ledger_.insert_or_assign(*rank, row);
    if (!rank) found_.count(kLostReferences, "ledger.rank");
  }
}

/// What rows of a table that are lost count as.
const DiagnosticKind& lost_rows_of(ChunkType table) {
  switch (table) {
    case ChunkType::kOperations: return kLostOperations;
    case ChunkType::kAllocatorStates:
    case ChunkType::kSyncs:
    case ChunkType::kClocks:
    case ChunkType::kLedger: return kLostFacts;
    default: return kLostDefinitions;
  }
}

/// Counts what is missing at the end, where no later chunk of the table shows a gap.
void IltReader::count_lost_end() {
  if (last_chunk_ != ChunkType::kEnd) {
    found_.count(is_called_partial(place_) ? kUnfinished : kTruncated,
                 place_ + " byte " + std::to_string(scanner_.position()));
  }
  for (std::uint16_t type = 1; type < kChunkTypes; ++type) {
    const std::uint64_t announced = scanner_.announced_rows(static_cast<ChunkType>(type));
    if (announced > rows_read_[type]) {
      count_lost_rows(static_cast<ChunkType>(type), announced - rows_read_[type]);
    }
  }
}

void IltReader::count_lost_rows(ChunkType type, std::uint64_t rows) {
  found_.count(lost_rows_of(type),
               place_ + ": " + std::string(to_string(type)) + " from row " +
                   std::to_string(rows_read_[static_cast<std::size_t>(type)]),
               static_cast<std::int64_t>(rows));
}

std::optional<OperationId> IltReader::resolve(std::optional<OperationId> row) {
  const std::size_t index = row->index();
  const bool may_be_lost = ids_.is_damaged || last_chunk_ != ChunkType::kEnd;
  if (index >= ids_.operations.size() && !may_be_lost) throw Malformed{kInvalid, "a reference is to no operation"};
  const auto id = ids_.operations.find(index);
  if (!id) found_.count(kLostReferences, place_ + ": operation " + std::to_string(index));
  return id;
}

void IltReader::resolve_references() {
  for (const OperationId id : with_record_) {
    auto& record = builder_.sync_detail(id).record;
    record = resolve(record);
  }
  for (const OperationId id : with_forward_op_) {
    auto& forward_op = builder_.range_detail(id).forward_op;
    forward_op = resolve(forward_op);
  }
}

/// What the builder finds, it found also when the trace was written: the two counts are of one thing.
void IltReader::merge_diagnostics(const Diagnostics& found_by_builder, Diagnostics& diagnostics) const {
  for (const Diagnostic& stored : stored_.entries()) {
    const auto& again = found_by_builder.entries();
    const auto same = std::ranges::find(again, stored.code, &Diagnostic::code);
    diagnostics.add(same == again.end() ? stored : *same);
  }
  for (const Diagnostic& found : found_by_builder.entries()) {
    if (stored_.count_of(found.code) == 0) diagnostics.add(found);
  }
  diagnostics.merge(found_);
}

Buffer bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (in) {
    const std::streamoff size = in.tellg();
    Buffer bytes(size > 0 ? static_cast<std::size_t>(size) : 0);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(bytes.data()), size);
    if (in && size >= 0) return bytes;
  }
  throw Error(kCannotRead, file.string(), "the file cannot be read", "check its name and permissions");
}

}  // namespace

Trace read_ilt(std::span<const std::uint8_t> bytes, const std::string& place, Diagnostics& diagnostics) {
  return IltReader(bytes, place).read(bytes, diagnostics);
}

Trace read_ilt(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const Buffer bytes = bytes_of(file);
  return read_ilt(bytes, file.string(), diagnostics);
}

bool looks_like_ilt(std::span<const std::uint8_t> first_bytes) {
  return first_bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), first_bytes.begin());
}

}  // namespace interlace::trace
