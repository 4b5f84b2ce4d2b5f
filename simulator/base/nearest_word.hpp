#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace interlace {

/// The words most like `word` (edit distance with swaps, at most a third of the letters), best first, at most `limit`.
/// Words may have folders: "sparse_dist" finds "torchrec/sparse_dist".
[[nodiscard]] std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known,
                                                    std::size_t limit = 1);

/// `; did you mean "a" or "b"?`, or nothing where `words` is empty.
[[nodiscard]] std::string did_you_mean(std::span<const std::string_view> words);

}  // namespace interlace
