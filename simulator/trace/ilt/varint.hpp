#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/trace/ilt/errors.hpp"

/// Numbers and texts as bytes: little endian, LEB128, zigzag.
namespace interlace::trace::ilt {

using Buffer = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t word) { return (word << 1U) ^ (0 - (word >> 63U)); }
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t code) { return (code >> 1U) ^ (0 - (code & 1U)); }

inline void put_varint(Buffer& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<std::uint8_t>(value | 0x80U));
  out.push_back(static_cast<std::uint8_t>(value));
}

inline void put_text(Buffer& out, std::string_view text) {
  put_varint(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

template <class T>
void put_fixed(Buffer& out, T value) {
  for (unsigned i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::uint8_t>(std::uint64_t{value} >> (8U * i)));
}

template <class T>
[[nodiscard]] T get_fixed(const std::uint8_t* at) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < sizeof(T); ++i) value |= std::uint64_t{at[i]} << (8U * i);
  return static_cast<T>(value);
}

/// Takes values off the front of some bytes; throws Malformed where they end too early. The bytes must outlive it.
class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(BytesView bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t byte() {
    if (at_ == end_) fail("values are missing");
    return *at_++;
  }

  std::uint64_t varint() {
    const std::uint8_t first = byte();
    return first < 0x80 ? first : long_varint(first);
  }

  BytesView bytes(std::uint64_t count) {
    if (count > left()) fail("a length points past the end");
    const BytesView taken(at_, static_cast<std::size_t>(count));
    at_ += count;
    return taken;
  }

  std::string_view text() {
    const BytesView taken = bytes(varint());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  [[noreturn]] static void fail(const char* problem) { throw Malformed{kInvalid, problem}; }

  std::uint64_t long_varint(std::uint8_t first) {
    std::uint64_t value = first & 0x7FU;
    for (unsigned shift = 7; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 0x7FU} << shift;
      if (next < 0x80) return value;
    }
    fail("a number has more than 64 bits");
  }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace interlace::trace::ilt
