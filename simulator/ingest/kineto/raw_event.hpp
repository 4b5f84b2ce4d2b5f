#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/ingest/kineto/keys.hpp"
#include "simulator/ingest/kineto/numbers.hpp"

namespace interlace::ingest::kineto {

/// One event as its JSON has it: the texts of the known fields, without quotes, not yet made into numbers. The views
/// live as long as the parser's buffers.
class RawEvent {
 public:
  std::array<std::int32_t, 3> grid{1, 1, 1};
  std::array<std::int32_t, 3> block{1, 1, 1};

  void clear() {
    present_.reset();
    grid = {1, 1, 1};
    block = {1, 1, 1};
  }
  void set(Key key, std::string_view text) {
    texts_[static_cast<std::size_t>(key)] = text;
    present_.set(static_cast<std::size_t>(key));
  }
  [[nodiscard]] bool has(Key key) const { return present_.test(static_cast<std::size_t>(key)); }
  /// Empty where absent.
  [[nodiscard]] std::string_view text(Key key) const {
    return has(key) ? texts_[static_cast<std::size_t>(key)] : std::string_view();
  }
  [[nodiscard]] std::optional<std::int64_t> integer(Key key) const {
    return has(key) ? parse_integer(text(key)) : std::nullopt;
  }

 private:
  std::array<std::string_view, kKeys> texts_;
  std::bitset<kKeys> present_;
};

}  // namespace interlace::ingest::kineto
