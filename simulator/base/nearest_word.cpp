#include "simulator/base/nearest_word.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace interlace {

namespace {

// Optimal string alignment: insertions, deletions, changes and swaps of neighbours cost 1 each.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({change, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string_view last_segment(std::string_view word) { return word.substr(word.rfind('/') + 1); }

// None: not alike. Of words with folders the last segments decide, and those alone where one word has no folder.
std::optional<std::size_t> likeness(std::string_view word, std::string_view known) {
  constexpr std::size_t kLongest = 200;  // what is longer is no slip of a finger, and the table above is quadratic
  if (word.size() > kLongest) return std::nullopt;
  const std::string_view a = last_segment(word);
  const std::string_view b = last_segment(known);
  const bool both_have_folders = a.size() < word.size() && b.size() < known.size();
  const std::size_t d = both_have_folders ? distance(word, known) : distance(a, b);
  if (d * 3 > std::max(a.size(), b.size())) return std::nullopt;
  return d;
}

}  // namespace

std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known,
                                      std::size_t limit) {
  std::vector<std::pair<std::size_t, std::string_view>> alike;
  for (const std::string_view candidate : known) {
    if (const auto d = likeness(word, candidate)) alike.emplace_back(*d, candidate);
  }
  std::ranges::sort(alike);
  std::vector<std::string_view> words;
  for (const auto& [d, candidate] : alike) {
    if (words.size() < limit) words.push_back(candidate);
  }
  return words;
}

std::string did_you_mean(std::span<const std::string_view> words) {
  if (words.empty()) return {};
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text.append(1, '"').append(words[i]).append(1, '"');
  }
  return text + "?";
}

}  // namespace interlace
