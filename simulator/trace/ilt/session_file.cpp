#include "simulator/trace/ilt/session_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/column_reader.hpp"
#include "simulator/trace/ilt/column_writer.hpp"
#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/fields.hpp"
#include "simulator/trace/ilt/row_source.hpp"

namespace interlace::trace {

using namespace ilt;  // this file is the format's own

namespace {

/// A file's bytes, mapped for as long as this lives.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (descriptor < 0 || fstat(descriptor, &facts) != 0) {
      if (descriptor >= 0) ::close(descriptor);
      throw Error(kCannotRead, file.string(), "the file cannot be read", "check its name and permissions");
    }
    size_ = static_cast<std::size_t>(facts.st_size);
    if (size_ > 0) start_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
    if (start_ == MAP_FAILED) throw Error(kCannotRead, file.string(), "the file cannot be read");
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (start_ != nullptr) munmap(start_, size_);
  }

  [[nodiscard]] BytesView bytes() const { return {static_cast<const std::uint8_t*>(start_), size_}; }

 private:
  void* start_ = nullptr;
  std::size_t size_ = 0;
};

/// Walks all chunks of a file and keeps what is not an operation.
class SessionScan {
 public:
  explicit SessionScan(std::string place) : place_(std::move(place)) {}

  void read(BytesView file) {
    std::size_t at = 0;
    try {
      check_file_header(file);
      ChunkScanner scanner(file, place_);
      at = scanner.position();
      while (const auto chunk = scanner.next(ignored_)) {
        at = chunk->at;
        last_chunk_ = at;
        is_damaged_ = is_damaged_ || scanner.lost_bytes() > 0;
        take(*chunk);
      }
      sound_end_ = scanner.position();
    } catch (const Malformed& malformed) {
      throw Error(malformed.code, place_ + " byte " + std::to_string(at), malformed.problem);
    }
    facts_.file_bytes = static_cast<std::int64_t>(file.size());
    facts_.cut_bytes = static_cast<std::int64_t>(file.size() - sound_end_);
    facts_.operations = static_cast<std::int64_t>(rows(ChunkType::kOperations));
  }

  [[nodiscard]] SessionFacts& facts() { return facts_; }
  [[nodiscard]] std::uint64_t rows(ChunkType type) const { return rows_[static_cast<std::size_t>(type)]; }
  [[nodiscard]] std::size_t sound_end() const { return sound_end_; }
  /// Where its last whole chunk begins.
  [[nodiscard]] std::size_t last_chunk() const { return last_chunk_; }
  [[nodiscard]] bool has_own_schema() const { return schemas_ == 1 && is_own_schema_; }

 private:
  void take(const StoredChunk& chunk) {
    facts_.is_ended = chunk.header.type == static_cast<std::uint16_t>(ChunkType::kEnd);
    if (!is_known(chunk.header.type)) return;
    std::uint64_t& rows = rows_[chunk.header.type];
    rows = std::max(rows, chunk.header.first_row + chunk.header.rows);
    const auto type = static_cast<ChunkType>(chunk.header.type);
    if (type == ChunkType::kSchema) {
      const BytesView payload = unpacker_.unpack(chunk);
      const Buffer own = schema_payload();
      is_own_schema_ = std::ranges::equal(payload, own);
      ++schemas_;
      schema_.add(payload, chunk.header.rows, ignored_);
    }
    if (type != ChunkType::kRanks && type != ChunkType::kClocks && type != ChunkType::kLedger) return;
    ChunkColumns columns(unpacker_.unpack(chunk), type, schema_, is_damaged_);
    RowSource source(columns, no_ids_, no_builder_, ignored_);
    for (std::uint32_t i = 0; i < chunk.header.rows; ++i) {
      if (type == ChunkType::kRanks) facts_.ranks.push_back(read_rank(source, columns));
      if (type == ChunkType::kClocks) take_clock(source);
      if (type == ChunkType::kLedger) take_ledger(source);
    }
  }

  void take_clock(RowSource& source) {
    ClockSnapshot& clock = facts_.clocks.emplace_back();
    clock.rank = RankId{source.row_number(Column::kClocksRank)};
    clock_fields(source, clock);
  }

  void take_ledger(RowSource& source) {
    LedgerRow row{.rank = RankId{source.row_number(Column::kLedgerRank)}};
    ledger_fields(source, row);
    const auto known = std::ranges::find(facts_.ledger, row.rank, &LedgerRow::rank);
    if (known == facts_.ledger.end()) {
      facts_.ledger.push_back(row);
    } else {
      *known = row;
    }
  }

  std::string place_;
  SessionFacts facts_;
  std::array<std::uint64_t, kChunkTypes> rows_{};
  std::size_t sound_end_ = 0;
  std::size_t last_chunk_ = 0;
  std::size_t schemas_ = 0;
  bool is_own_schema_ = false;
  bool is_damaged_ = false;
  ChunkUnpacker unpacker_;
  Schema schema_;
  RowIds no_ids_;
  TraceBuilder no_builder_;
  Diagnostics ignored_;
};

/// The chunks that end a file: diagnostics, where there are any, and the totals.
Buffer closing_chunks(const SessionScan& scan, const Diagnostics& why) {
  ChunkPacker packer(3);
  ColumnWriter columns;
  Buffer chunks;
  const std::uint64_t diagnostics = scan.rows(ChunkType::kDiagnostics);
  for (const Diagnostic& entry : why.entries()) diagnostic_fields(columns, entry);
  if (!why.empty()) {
    chunks = packer.pack(ChunkType::kDiagnostics, diagnostics, static_cast<std::uint32_t>(why.entries().size()),
                         columns.take(ChunkType::kDiagnostics));
  }
  for (const auto& [column, table] : kEndTotals) {
    const std::uint64_t closing = table == ChunkType::kDiagnostics ? why.entries().size() : 0;
    columns.field(column, scan.rows(table) + closing);
  }
  const Buffer end = packer.pack(ChunkType::kEnd, scan.rows(ChunkType::kEnd), 1, columns.take(ChunkType::kEnd));
  chunks.insert(chunks.end(), end.begin(), end.end());
  return chunks;
}

/// Puts the chunks behind the first `end` bytes of the file, in the place of what stands there.
bool write_end(const std::filesystem::path& file, std::size_t end, const Buffer& chunks) {
  std::error_code failure;
  std::filesystem::resize_file(file, end, failure);
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(chunks.data()), static_cast<std::streamsize>(chunks.size()));
  out.close();
  return !failure && out;
}

}  // namespace

const LedgerRow* SessionFacts::ledger_of(RankId rank) const {
  const auto row = std::ranges::find(ledger, rank, &LedgerRow::rank);
  return row == ledger.end() ? nullptr : &*row;
}

SessionFacts read_session(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  SessionScan scan(file.string());
  scan.read(mapped.bytes());
  return std::move(scan.facts());
}

bool seal_ilt(const std::filesystem::path& file, const Diagnostics& why) {
  // The last operations may have left too little room to say why they are the last.
  constexpr int kMostGivenUp = 3;
  for (int given_up = 0;; ++given_up) {
    Buffer chunks;
    std::size_t end = 0;
    std::size_t last_chunk = 0;
    bool has_operations = false;
    {
      const MappedFile mapped(file);
      SessionScan scan(file.string());
      scan.read(mapped.bytes());
      if (scan.facts().is_ended || !scan.has_own_schema()) return false;
      chunks = closing_chunks(scan, why);
      end = scan.sound_end();
      last_chunk = scan.last_chunk();
      has_operations = scan.rows(ChunkType::kOperations) > 0;
    }
    if (write_end(file, end, chunks)) return true;
    std::error_code failure;
    const bool can_give_up = has_operations && given_up < kMostGivenUp;
    std::filesystem::resize_file(file, can_give_up ? last_chunk : end, failure);
    if (!can_give_up || failure) {
      throw Error(kCannotWrite, file.string(), "the file cannot be ended", "check the disk's room");
    }
  }
}

}  // namespace interlace::trace
