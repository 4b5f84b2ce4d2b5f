#include "cupti_collector/flight_ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cupti_collector/clock.hpp"
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
  taken_ += count;
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
  const Nanoseconds now = steady_time();
  std::size_t at = 0;
  while (coming_.size() - at >= ilt::kChunkHeaderBytes) {
    const std::size_t bytes = ilt::kChunkHeaderBytes + number_at<std::uint32_t>(coming_, at + kStoredBytes);
    if (coming_.size() - at < bytes) break;
    Chunk chunk{now, number_at<std::uint16_t>(coming_, at + kType), coming_.substr(at, bytes)};
    at += bytes;
    bytes_ += bytes;
    if (ilt::is_definition(static_cast<ilt::ChunkType>(chunk.type))) {
      definitions_.push_back(std::move(chunk));
    } else if (chunk.type == static_cast<std::uint16_t>(ilt::ChunkType::kDiagnostics)) {
      diagnostics_.push_back(std::move(chunk));
    } else {
      chunk_bytes_ += bytes;
      chunks_.push_back(std::move(chunk));
    }
  }
  coming_.erase(0, at);
  // Definitions alone may be more than is allowed.
  const std::size_t others = bytes_ - chunk_bytes_;
  const std::size_t most = std::max(most_ - std::min(most_, others), most_ / 4);
  for (; most_ > 0 && chunk_bytes_ > most && !chunks_.empty(); is_cut_ = true) forget_first();
}

void FlightRing::forget_first() {
  const std::size_t bytes = chunks_.front().bytes.size();
  bytes_ -= bytes;
  chunk_bytes_ -= bytes;
  chunks_.pop_front();
}

void FlightRing::forget_diagnostics() {
  for (const Chunk& chunk : std::exchange(diagnostics_, {})) bytes_ -= chunk.bytes.size();
}

void FlightRing::forget_old() {
  const Nanoseconds now = steady_time();
  while (!chunks_.empty() && chunks_.front().time < now - length_) forget_first();
}

bool FlightRing::write(std::streambuf& to, const std::function<void()>& progress) const {
  const auto put_all = [&](const std::string& bytes) {
    progress();
    const auto size = static_cast<std::streamsize>(bytes.size());
    return to.sputn(bytes.data(), size) == size;
  };
  std::array<std::uint64_t, ilt::kChunkTypes> rows{};
  const auto put_renumbered = [&](const Chunk& chunk) {
    if (chunk.type >= rows.size()) return true;
    const std::uint64_t first = rows[chunk.type];
    rows[chunk.type] += number_at<std::uint32_t>(chunk.bytes, kRows);
    return put_all(renumbered(chunk.bytes, first));
  };
  const auto put_as_is = [&](const Chunk& chunk) { return put_all(chunk.bytes); };
  return put_all(head_) && std::ranges::all_of(definitions_, put_as_is) &&
         std::ranges::all_of(diagnostics_, put_renumbered) && std::ranges::all_of(chunks_, put_renumbered);
}

}  // namespace interlace::collector
