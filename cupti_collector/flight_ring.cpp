#include "cupti_collector/flight_ring.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/format.hpp"

namespace interlace::collector {

namespace {

namespace ilt = trace::ilt;

// Places in the head of a chunk (docs/ilt_format.md).
constexpr std::size_t kType = 4;
constexpr std::size_t kFirstRow = 8;
constexpr std::size_t kRows = 16;
constexpr std::size_t kStoredBytes = 20;
constexpr std::size_t kHeadCrc = 32;

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, &bytes[at], sizeof(number));
  return number;
}

template <class Number>
void put(std::string& bytes, std::size_t at, Number number) {
  std::memcpy(&bytes[at], &number, sizeof(number));
}

bool is_definition(std::uint16_t type) {
  switch (static_cast<ilt::ChunkType>(type)) {
    case ilt::ChunkType::kSchema:
    case ilt::ChunkType::kStrings:
    case ilt::ChunkType::kRanks:
    case ilt::ChunkType::kLanes:
    case ilt::ChunkType::kDiagnostics: return true;
    default: return false;
  }
}

/// The chunk with other numbers of rows.
std::string renumbered(const std::string& chunk, std::uint64_t first_row) {
  std::string copy = chunk;
  put(copy, kFirstRow, first_row);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(copy.data());
  put(copy, kHeadCrc, ilt::checksum({begin, kHeadCrc}));
  return copy;
}

}  // namespace

std::streamsize FlightRing::xsputn(const char* bytes, std::streamsize count) {
  coming_.append(bytes, static_cast<std::size_t>(count));
  split();
  return count;
}

FlightRing::int_type FlightRing::overflow(int_type byte) {
  const char one = traits_type::to_char_type(byte);
  return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
}

void FlightRing::split() {
  if (head_.empty()) {
    if (coming_.size() < ilt::kFileHeaderBytes) return;
    head_ = coming_.substr(0, ilt::kFileHeaderBytes);
    coming_.erase(0, ilt::kFileHeaderBytes);
  }
  std::size_t at = 0;
  while (coming_.size() - at >= ilt::kChunkHeaderBytes) {
    const std::size_t bytes = ilt::kChunkHeaderBytes + number_at<std::uint32_t>(coming_, at + kStoredBytes);
    if (coming_.size() - at < bytes) break;
    Chunk chunk{now_, number_at<std::uint16_t>(coming_, at + kType), coming_.substr(at, bytes)};
    at += bytes;
    bytes_ += bytes;
    if (is_definition(chunk.type)) {
      definitions_.push_back(std::move(chunk));
    } else {
      chunks_.push_back(std::move(chunk));
    }
  }
  coming_.erase(0, at);
}

void FlightRing::advance(Nanoseconds now) {
  now_ = now;
  while (!chunks_.empty() && chunks_.front().time < now - length_) {
    bytes_ -= chunks_.front().bytes.size();
    chunks_.pop_front();
  }
}

std::string FlightRing::file() const {
  std::string file = head_;
  file.reserve(head_.size() + bytes_);
  for (const Chunk& chunk : definitions_) file += chunk.bytes;
  std::array<std::uint64_t, ilt::kChunkTypes> rows{};
  for (const Chunk& chunk : chunks_) {
    if (chunk.type >= rows.size()) continue;
    std::uint64_t& next = rows[chunk.type];
    file += renumbered(chunk.bytes, next);
    next += number_at<std::uint32_t>(chunk.bytes, kRows);
  }
  return file;
}

}  // namespace interlace::collector
