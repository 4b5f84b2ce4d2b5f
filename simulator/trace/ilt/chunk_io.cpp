#include "simulator/trace/ilt/chunk_io.hpp"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace interlace::trace::ilt {

namespace {

Buffer header_bytes(const ChunkHeader& header) {
  Buffer bytes(kChunkMarker.begin(), kChunkMarker.end());
  put_fixed(bytes, header.type);
  put_fixed(bytes, header.compression);
  put_fixed(bytes, header.flags);
  put_fixed(bytes, header.first_row);
  put_fixed(bytes, header.rows);
  put_fixed(bytes, header.stored_bytes);
  put_fixed(bytes, header.raw_bytes);
  put_fixed(bytes, header.stored_crc);
  put_fixed(bytes, checksum(bytes));
  return bytes;
}

std::uint64_t most_raw_bytes(std::uint64_t stored_bytes) { return kMaxExpansion * (stored_bytes + kChunkHeaderBytes); }

void check_limits(const ChunkHeader& header) {
  if (header.rows > kMaxChunkRows || header.raw_bytes > kMaxChunkBytes ||
      header.raw_bytes > most_raw_bytes(header.stored_bytes)) {
    throw Malformed{kTooLarge, "a chunk of " + std::to_string(header.stored_bytes) + " bytes claims " +
                                   std::to_string(header.rows) + " rows in " + std::to_string(header.raw_bytes) +
                                   " bytes, more than the format allows"};
  }
  if (header.first_row + header.rows > kMaxTableRows || header.first_row > kMaxTableRows) {
    throw Malformed{kTooLarge, "a table has more than " + std::to_string(kMaxTableRows) + " rows"};
  }
}

}  // namespace

std::uint32_t checksum(BytesView bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

Buffer file_header() {
  Buffer bytes(kMagic.begin(), kMagic.end());
  put_fixed(bytes, kMajorVersion);
  put_fixed(bytes, kMinorVersion);
  put_fixed(bytes, checksum(bytes));
  return bytes;
}

void check_file_header(BytesView file) {
  const std::size_t magic_bytes = std::min(file.size(), kMagic.size());
  if (magic_bytes == 0) throw Malformed{kNotIlt, "the file is empty"};
  if (!std::equal(kMagic.begin(), kMagic.begin() + static_cast<std::ptrdiff_t>(magic_bytes), file.begin())) {
    throw Malformed{kNotIlt, "the file does not begin as an .ilt trace does"};
  }
  if (file.size() < kFileHeaderBytes) throw Malformed{kDamaged, "the file ends within its header"};
  if (get_fixed<std::uint32_t>(&file[12]) != checksum(file.first(12))) {
    throw Malformed{kDamaged, "the file's header does not match its checksum"};
  }
  const auto major = get_fixed<std::uint16_t>(&file[8]);
  if (major > kMajorVersion) {
    throw Malformed{kNewerVersion, "the file is of format version " + std::to_string(major) +
                                       ", this Interlace reads version " + std::to_string(kMajorVersion)};
  }
  if (major < kMajorVersion) throw Malformed{kInvalid, "there is no format version " + std::to_string(major)};
}

void ChunkPacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ChunkPacker::ChunkPacker(int compression_level) : context_(ZSTD_createCCtx()), level_(compression_level) {
  if (!context_) throw std::bad_alloc();
}

Buffer ChunkPacker::pack(ChunkType type, std::uint64_t first_row, std::uint32_t rows, BytesView payload) {
  if (payload.size() > kMaxChunkBytes) {
    throw Malformed{kTooLarge, "one chunk of " + std::string(to_string(type)) + " would take " +
                                   std::to_string(payload.size()) + " bytes, more than the format allows"};
  }
  Buffer compressed(ZSTD_compressBound(payload.size()));
  const std::size_t size =
      ZSTD_compressCCtx(context_.get(), compressed.data(), compressed.size(), payload.data(), payload.size(), level_);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // with room for the bound, only memory can lack
  const bool is_compressed = size < payload.size() && payload.size() <= most_raw_bytes(size);
  const BytesView stored = is_compressed ? BytesView(compressed).first(size) : payload;

  Buffer chunk =
      header_bytes({.type = static_cast<std::uint16_t>(type),
                    .compression = static_cast<std::uint8_t>(is_compressed ? Compression::kZstd : Compression::kNone),
                    .first_row = first_row,
                    .rows = rows,
                    .stored_bytes = static_cast<std::uint32_t>(stored.size()),
                    .raw_bytes = static_cast<std::uint32_t>(payload.size()),
                    .stored_crc = checksum(stored)});
  chunk.insert(chunk.end(), stored.begin(), stored.end());
  return chunk;
}

ChunkScanner::ChunkScanner(BytesView file, std::string place) : file_(file), place_(std::move(place)) {}

std::optional<ChunkHeader> ChunkScanner::header_at(std::size_t at) const {
  if (file_.size() - at < kChunkHeaderBytes) return std::nullopt;
  const BytesView bytes = file_.subspan(at, kChunkHeaderBytes);
  if (!std::equal(kChunkMarker.begin(), kChunkMarker.end(), bytes.begin())) return std::nullopt;
  if (get_fixed<std::uint32_t>(&bytes[32]) != checksum(bytes.first(32))) return std::nullopt;
  return ChunkHeader{.type = get_fixed<std::uint16_t>(&bytes[4]),
                     .compression = bytes[6],
                     .flags = bytes[7],
                     .first_row = get_fixed<std::uint64_t>(&bytes[8]),
                     .rows = get_fixed<std::uint32_t>(&bytes[16]),
                     .stored_bytes = get_fixed<std::uint32_t>(&bytes[20]),
                     .raw_bytes = get_fixed<std::uint32_t>(&bytes[24]),
                     .stored_crc = get_fixed<std::uint32_t>(&bytes[28])};
}

std::size_t ChunkScanner::next_header_after(std::size_t at) const {
  for (auto from = file_.begin() + static_cast<std::ptrdiff_t>(at) + 1;; ++from) {
    from = std::search(from, file_.end(), kChunkMarker.begin(), kChunkMarker.end());
    const auto found = static_cast<std::size_t>(from - file_.begin());
    if (from == file_.end() || header_at(found)) return found;
  }
}

bool ChunkScanner::is_cut_header(std::size_t at) const {
  const BytesView tail = file_.subspan(at);
  const std::size_t compared = std::min(tail.size(), kChunkMarker.size());
  return tail.size() < kChunkHeaderBytes &&
         std::equal(tail.begin(), tail.begin() + static_cast<std::ptrdiff_t>(compared), kChunkMarker.begin());
}

void ChunkScanner::announce(const ChunkHeader& header) {
  if (header.type >= kChunkTypes) return;
  std::uint64_t& rows = announced_rows_[header.type];
  rows = std::max(rows, header.first_row + header.rows);
}

void ChunkScanner::skip_damage(std::size_t until, std::string_view what, Diagnostics& diagnostics) {
  diagnostics.count(kDamagedChunk, place_ + " byte " + std::to_string(position_) + ": " + std::string(what));
  lost_bytes_ += until - position_;
  position_ = until;
}

std::uint64_t ChunkScanner::rows_ahead(ChunkType table) const {
  std::uint64_t rows = 0;
  for (std::size_t at = position_; at < file_.size();) {
    const auto header = header_at(at);
    if (!header) break;
    if (header->type == static_cast<std::uint16_t>(table)) rows += header->rows;
    at += std::min(file_.size() - at, kChunkHeaderBytes + header->stored_bytes);
  }
  return rows;
}

std::optional<StoredChunk> ChunkScanner::next(Diagnostics& diagnostics) {
  while (position_ < file_.size()) {
    const auto header = header_at(position_);
    const std::size_t left = file_.size() - position_;
    if (header) check_limits(*header);
    if (!header || header->stored_bytes > left - kChunkHeaderBytes) {
      const std::size_t next = next_header_after(position_);
      if (next == file_.size() && (header || is_cut_header(position_))) {
        if (header) announce(*header);
        break;
      }
      skip_damage(next, "a chunk's header does not match its checksum or size", diagnostics);
      continue;
    }
    const StoredChunk chunk{*header, file_.subspan(position_ + kChunkHeaderBytes, header->stored_bytes), position_};
    const std::size_t end = position_ + kChunkHeaderBytes + header->stored_bytes;
    if (checksum(chunk.stored) != header->stored_crc) {
      announce(*header);
      skip_damage(end, "a chunk does not match its checksum", diagnostics);
      continue;
    }
    position_ = end;
    return chunk;
  }
  lost_bytes_ += file_.size() - position_;
  return std::nullopt;
}

void ChunkUnpacker::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ChunkUnpacker::ChunkUnpacker() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
}

BytesView ChunkUnpacker::unpack(const StoredChunk& chunk) {
  const ChunkHeader& header = chunk.header;
  if (header.compression == static_cast<std::uint8_t>(Compression::kNone)) {
    if (header.raw_bytes != header.stored_bytes) throw Malformed{kInvalid, "an uncompressed chunk has two sizes"};
    return chunk.stored;
  }
  if (header.compression != static_cast<std::uint8_t>(Compression::kZstd)) {
    throw Malformed{kInvalid, "compression " + std::to_string(header.compression) + " is not specified"};
  }
  payload_.resize(header.raw_bytes);
  const std::size_t size =
      ZSTD_decompressDCtx(context_.get(), payload_.data(), payload_.size(), chunk.stored.data(), chunk.stored.size());
  if (ZSTD_isError(size) != 0 || size != header.raw_bytes) {
    throw Malformed{kInvalid, "a chunk cannot be decompressed to the size it claims"};
  }
  return payload_;
}

}  // namespace interlace::trace::ilt
