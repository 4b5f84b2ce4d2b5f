#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The constants of the .ilt format. docs/ilt_format.md is its specification.
namespace interlace::trace::ilt {

inline constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'I', 'L', 'T', '\r', '\n', 0x1A, '\n'};
inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 4;
inline constexpr std::size_t kFileHeaderBytes = 16;

inline constexpr std::array<std::uint8_t, 4> kChunkMarker{0xC5, 'i', 'l', 'c'};
inline constexpr std::size_t kChunkHeaderBytes = 36;

/// What one chunk may hold once decompressed, so that a small file cannot ask for much memory.
inline constexpr std::uint32_t kMaxChunkBytes = 64U << 20U;
inline constexpr std::uint32_t kMaxChunkRows = 1U << 20U;
/// A chunk takes at least 1/kMaxExpansion of its decompressed size in the file, its header included.
inline constexpr std::uint64_t kMaxExpansion = 256;
/// Rows of one table in one file.
inline constexpr std::uint64_t kMaxTableRows = UINT32_MAX;
/// Times lie in [kEarliestTime, kLatestTime] and durations in [-kLongestDuration, kLongestDuration], in nanoseconds:
/// then no difference or sum that a Trace needs leaves 64 bits. The latest is in the year 2116 of the Unix clock.
inline constexpr std::int64_t kEarliestTime = -(std::int64_t{1} << 61);
inline constexpr std::int64_t kLatestTime = std::int64_t{1} << 62;
inline constexpr std::int64_t kLongestDuration = (std::int64_t{1} << 61) - 1;

enum class ChunkType : std::uint16_t {
  kSchema = 1,
  kStrings = 2,
  kRanks = 3,
  kLanes = 4,
  kOperations = 5,
  kDiagnostics = 6,
  kEnd = 7,
  kAllocatorStates = 8,  ///< since 1.1
  kSyncs = 16,           ///< since 1.1, as the next two
  kClocks = 17,
  kLedger = 18,
};
inline constexpr std::size_t kChunkTypes = 19;  ///< for tables indexed by ChunkType

/// Whether rows of other tables refer to the table's by their numbers, wherever they stand.
constexpr bool is_definition(ChunkType type) {
  return type == ChunkType::kSchema || type == ChunkType::kStrings || type == ChunkType::kRanks ||
         type == ChunkType::kLanes;
}

enum class Compression : std::uint8_t { kNone = 0, kZstd = 1 };

/// How the values of a column lie in a chunk.
enum class Encoding : std::uint8_t {
  kByte = 1,    ///< one byte
  kVarint = 2,  ///< unsigned LEB128
  kZigzag = 3,  ///< LEB128 of the zigzag code
  kDelta = 4,   ///< as kZigzag, of the difference from the value before
  kText = 5,    ///< length as kVarint, then the bytes
};

/// The fixed head of a chunk; `rows` of its table follow, the first of them being number `first_row`.
struct ChunkHeader {
  std::uint16_t type = 0;
  std::uint8_t compression = 0;
  std::uint8_t flags = 0;  ///< 0; readers ignore it
  std::uint64_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_crc = 0;

  bool operator==(const ChunkHeader&) const = default;
};

}  // namespace interlace::trace::ilt
