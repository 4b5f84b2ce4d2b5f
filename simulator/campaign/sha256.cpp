#include "simulator/campaign/sha256.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace interlace::campaign {

namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kRounds = 64;

/// The first 32 bits of the fractional part of a root of each of the first 64 primes: the constants of the standard.
template <class Root>
std::array<std::uint32_t, kRounds> fractions_of_roots(Root root) {
  std::array<std::uint32_t, kRounds> fractions{};
  std::size_t found = 0;
  for (std::uint32_t candidate = 2; found < fractions.size(); ++candidate) {
    bool prime = true;
    for (std::uint32_t divisor = 2; divisor * divisor <= candidate && prime; ++divisor) {
      prime = candidate % divisor != 0;
    }
    if (!prime) continue;
    const long double value = root(static_cast<long double>(candidate));
    fractions[found++] = static_cast<std::uint32_t>((value - std::floor(value)) * 4294967296.0L);
  }
  return fractions;
}

class Digest {
 public:
  Digest() {
    const auto squares = fractions_of_roots([](long double x) { return std::sqrt(x); });
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = squares[i];
  }

  void add(std::string_view block) {
    std::array<std::uint32_t, kRounds> words{};
    for (std::size_t i = 0; i < kBlock; ++i) {
      words[i / 4] = (words[i / 4] << 8) | static_cast<unsigned char>(block[i]);
    }
    for (std::size_t i = 16; i < kRounds; ++i) {
      const std::uint32_t a = words[i - 15];
      const std::uint32_t b = words[i - 2];
      words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + words[i - 7] +
                 (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    std::array<std::uint32_t, 8> s = state_;
    for (std::size_t i = 0; i < kRounds; ++i) {
      const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      const std::uint32_t first =
          s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) + choice + cubes_[i] + words[i];
      const std::uint32_t second = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + majority;
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += s[i];
  }

  [[nodiscard]] std::string text() const {
    std::string digits;
    for (const std::uint32_t word : state_) digits += fmt::format("{:08x}", word);
    return digits;
  }

 private:
  std::array<std::uint32_t, 8> state_{};
  std::array<std::uint32_t, kRounds> cubes_ = fractions_of_roots([](long double x) { return std::cbrt(x); });
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  std::string_view rest = bytes;
  for (; rest.size() >= kBlock; rest.remove_prefix(kBlock)) digest.add(rest.substr(0, kBlock));
  // A one, zeros, and the length in bits as 8 bytes at the end of a block.
  std::string tail(rest);
  tail += '\x80';
  while (tail.size() % kBlock != kBlock - 8) tail += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>((bits >> shift) & 0xFFU);
  for (std::string_view left = tail; !left.empty(); left.remove_prefix(kBlock)) digest.add(left.substr(0, kBlock));
  return digest.text();
}

}  // namespace interlace::campaign
