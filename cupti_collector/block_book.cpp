#include "cupti_collector/block_book.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

namespace interlace::collector {

namespace {

constexpr Bytes kStep = 512;
constexpr Bytes kMiB = Bytes{1} << 20;

}  // namespace

BlockBook::Settings block_settings(std::string_view settings_text) {
  std::string text(settings_text);
  std::erase(text, ' ');  // as PyTorch does
  BlockBook::Settings settings;
  settings.is_rounding_known = text.find("roundup_power2_divisions") == std::string::npos;
  static constexpr std::string_view kLimit = "max_split_size_mb:";
  if (const std::size_t at = text.find(kLimit); at != std::string::npos) {
    const std::string_view digits = std::string_view(text).substr(at + kLimit.size());
    Bytes number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && number > 0 && number < (Bytes{1} << 40)) settings.max_split_size = number * kMiB;
  }
  return settings;
}

std::optional<Bytes> BlockBook::contradiction() {
  is_consistent_ = false;
  return std::nullopt;
}

bool BlockBook::can_merge(Spaces::const_iterator left, Spaces::const_iterator right) const {
  const Space& a = left->second;
  const Space& b = right->second;
  const bool touch = left->first + static_cast<std::uint64_t>(a.bytes) == right->first;
  return touch && a.state == State::kFree && b.state == State::kFree && a.stream == b.stream &&
         a.is_expandable == b.is_expandable && (a.is_expandable || !starts_.contains(right->first));
}

void BlockBook::merge_around(Spaces::iterator space) {
  if (const auto next = std::next(space); next != spaces_.end() && can_merge(space, next)) {
    space->second.bytes += next->second.bytes;
    spaces_.erase(next);
  }
  if (space == spaces_.begin()) return;
  if (const auto before = std::prev(space); can_merge(before, space)) {
    before->second.bytes += space->second.bytes;
    spaces_.erase(space);
  }
}

void BlockBook::map(std::uint64_t address, Bytes bytes, std::uint64_t stream, bool is_expandable) {
  reserved_ += bytes;
  if (!is_expandable) starts_.insert(address);
  const auto [space, is_new] = spaces_.try_emplace(address, Space{bytes, stream, is_expandable, State::kFree});
  if (!is_new) {
    contradiction();
    return;
  }
  merge_around(space);
}

void BlockBook::unmap(std::uint64_t address, Bytes bytes) {
  reserved_ -= bytes;
  starts_.erase(address);
  auto space = spaces_.upper_bound(address);
  if (space == spaces_.begin()) {
    contradiction();
    return;
  }
  --space;
  const std::uint64_t begin = space->first;
  const Space whole = space->second;
  const std::uint64_t end = begin + static_cast<std::uint64_t>(whole.bytes);
  const std::uint64_t gone = address + static_cast<std::uint64_t>(bytes);
  if (whole.state != State::kFree || gone > end) {
    contradiction();
    return;
  }
  spaces_.erase(space);
  const auto keep = [&](std::uint64_t from, std::uint64_t to) {
    if (from >= to) return;
    Space part = whole;
    part.bytes = static_cast<Bytes>(to - from);
    spaces_.emplace(from, part);
  };
  keep(begin, address);
  keep(gone, end);
}

bool BlockBook::is_split(const Space& space, Bytes rounded) const {
  const Bytes remaining = space.bytes - rounded;
  if (rounded <= kMiB || space.is_expandable) return remaining >= kStep;
  return (!settings_.max_split_size || rounded < *settings_.max_split_size) && remaining > kMiB;
}

std::optional<Bytes> BlockBook::allocate(std::uint64_t address, Bytes requested) {
  const auto space = spaces_.find(address);
  const Bytes rounded = std::max(kStep, (requested + kStep - 1) / kStep * kStep);
  if (!settings_.is_rounding_known || space == spaces_.end() || space->second.state != State::kFree ||
      space->second.bytes < rounded) {
    return contradiction();
  }
  if (is_split(space->second, rounded)) {
    Space rest = space->second;
    rest.bytes -= rounded;
    space->second.bytes = rounded;
    spaces_.emplace(address + static_cast<std::uint64_t>(rounded), rest);
  }
  space->second.state = State::kAllocated;
  allocated_ += space->second.bytes;
  return space->second.bytes;
}

std::optional<Bytes> BlockBook::request_free(std::uint64_t address) {
  const auto space = spaces_.find(address);
  if (space == spaces_.end() || space->second.state != State::kAllocated) return contradiction();
  space->second.state = State::kPending;
  allocated_ -= space->second.bytes;
  return space->second.bytes;
}

std::optional<Bytes> BlockBook::complete_free(std::uint64_t address) {
  const auto space = spaces_.find(address);
  if (space == spaces_.end() || space->second.state != State::kPending) return contradiction();
  const Bytes bytes = space->second.bytes;
  space->second.state = State::kFree;
  merge_around(space);
  return bytes;
}

std::optional<Bytes> BlockBook::block_at(std::uint64_t address) const {
  const auto space = spaces_.find(address);
  if (space == spaces_.end() || space->second.state == State::kFree) return std::nullopt;
  return space->second.bytes;
}

}  // namespace interlace::collector
