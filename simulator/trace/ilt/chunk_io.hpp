#pragma once

#include <memory>
#include <optional>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/ilt/columns.hpp"
#include "simulator/trace/ilt/format.hpp"
#include "simulator/trace/ilt/varint.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace interlace::trace::ilt {

/// CRC-32 as in gzip and PNG.
[[nodiscard]] std::uint32_t checksum(BytesView bytes);

[[nodiscard]] Buffer file_header();
/// Throws Malformed: kNotIlt, kDamaged or kNewerVersion.
void check_file_header(BytesView file);

/// Packs payloads into chunks: compressed where that helps and the limits of the format allow it.
class ChunkPacker {
 public:
  explicit ChunkPacker(int compression_level);
  /// Header and stored bytes of one chunk. Throws Malformed where the payload is above kMaxChunkBytes.
  [[nodiscard]] Buffer pack(ChunkType type, std::uint64_t first_row, std::uint32_t rows, BytesView payload);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  int level_;
};

/// One chunk as it lies in a file.
struct StoredChunk {
  ChunkHeader header;
  BytesView stored;
  std::size_t at = 0;  ///< byte of the file where its header begins
};

/// Walks the chunks of a file and steps over what is damaged: where a header or the bytes it covers do not match their
/// checksum, it looks for the next chunk marker with a sound header. The file must outlive it.
class ChunkScanner {
 public:
  /// file: all of it; place: its name, for diagnostics.
  ChunkScanner(BytesView file, std::string place);

  /// How many rows the chunks from here on claim to have of a table, by their headers and up to the first damage. A
  /// hint: the chunks themselves are not looked at.
  [[nodiscard]] std::uint64_t rows_ahead(ChunkType table) const;

  /// The next sound chunk; none at the end. Counts kDamagedChunk. Throws Malformed where a header asks for more than
  /// the limits allow.
  [[nodiscard]] std::optional<StoredChunk> next(Diagnostics& diagnostics);

  /// Bytes stepped over so far, the cut chunk at the end included.
  [[nodiscard]] std::size_t lost_bytes() const { return lost_bytes_; }
  /// How many rows the table has in all, as far as the sound headers of damaged and cut chunks tell.
  [[nodiscard]] std::uint64_t announced_rows(ChunkType table) const {
    return announced_rows_[static_cast<std::size_t>(table)];
  }
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  [[nodiscard]] std::optional<ChunkHeader> header_at(std::size_t at) const;
  [[nodiscard]] std::size_t next_header_after(std::size_t at) const;
  [[nodiscard]] bool is_cut_header(std::size_t at) const;
  void announce(const ChunkHeader& header);
  void skip_damage(std::size_t until, std::string_view what, Diagnostics& diagnostics);

  BytesView file_;
  std::string place_;
  std::size_t position_ = kFileHeaderBytes;
  std::size_t lost_bytes_ = 0;
  std::array<std::uint64_t, kChunkTypes> announced_rows_{};
};

/// Gives payloads of stored chunks.
class ChunkUnpacker {
 public:
  ChunkUnpacker();
  /// The payload, valid until the next call. Throws Malformed.
  [[nodiscard]] BytesView unpack(const StoredChunk& chunk);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  Buffer payload_;
};

}  // namespace interlace::trace::ilt
