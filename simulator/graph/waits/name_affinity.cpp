#include "simulator/graph/waits/name_affinity.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace interlace::graph {

namespace {

bool is_plumbing(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kPrefixes{"nccl:", "c#d::", "record_param_comms",
                                                             "autograd::engine::evaluate_function"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Words in lower case: split at everything but letters, and where CamelCase starts a new word.
std::set<std::string> words_in(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (word.size() > 1) words.insert(word);
    word.clear();
  };
  const auto at = [&](std::size_t i) { return i < name.size() ? static_cast<unsigned char>(name[i]) : '\0'; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isalpha(at(i)) == 0) {
      flush();
      continue;
    }
    const bool upper = std::isupper(at(i)) != 0;
    const bool starts = upper && i > 0 && (std::islower(at(i - 1)) != 0 || std::islower(at(i + 1)) != 0);
    if (starts) flush();
    word += static_cast<char>(std::tolower(at(i)));
  }
  flush();
  return words;
}

}  // namespace

std::vector<std::string> telling_names(const std::vector<std::string>& names) {
  static constexpr std::size_t kRanges = 2;
  std::vector<std::string> telling;
  for (auto name = names.rbegin(); name != names.rend() && telling.size() < kRanges; ++name) {
    if (!is_plumbing(*name)) telling.push_back(*name);
  }
  std::ranges::reverse(telling);
  return telling;
}

NameAffinity::NameAffinity(std::span<const std::vector<std::string>> sites) {
  std::map<std::string, std::size_t> sites_with;
  std::vector<std::set<std::string>> words;
  for (const auto& names : sites) {
    words.emplace_back();
    for (const std::string& name : names) words.back().merge(words_in(name));
    for (const std::string& word : words.back()) ++sites_with[word];
  }
  std::map<std::string, Word> known;
  for (const auto& [word, count] : sites_with) {
    const double weight = std::log(1.0 + static_cast<double>(sites.size()) / static_cast<double>(count));
    known.emplace(word, Word{known.size(), weight});
  }
  for (const auto& of_site : words) {
    std::vector<Word> list;
    for (const std::string& word : of_site) {
      // A word that only one site has can match nothing.
      if (sites_with.at(word) > 1) list.push_back(known.at(word));
    }
    words_of_.push_back(std::move(list));
  }
}

double NameAffinity::operator()(std::size_t a, std::size_t b) const {
  const auto squared = [](const std::vector<Word>& words) {
    double sum = 0;
    for (const Word& word : words) sum += word.weight * word.weight;
    return sum;
  };
  double shared = 0;
  for (const Word& word : words_of_[a]) {
    const auto same = std::ranges::find(words_of_[b], word.number, &Word::number);
    if (same != words_of_[b].end()) shared += word.weight * word.weight;
  }
  const double length = std::sqrt(squared(words_of_[a]) * squared(words_of_[b]));
  return length > 0 ? shared / length : 0;
}

}  // namespace interlace::graph
