#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

using Texts = std::vector<std::string>;

bool is_inside_code_point(std::string_view utf8, std::size_t at) {
  return at < utf8.size() && (static_cast<unsigned char>(utf8[at]) & 0xC0U) == 0x80U;
}

/// Bytes that all begin with.
std::size_t common_begin(const Texts& texts) {
  const std::string& first = texts.front();
  std::size_t common = first.size();
  for (const std::string& text : texts) {
    const auto differ = std::ranges::mismatch(first, text);
    common = std::min(common, static_cast<std::size_t>(differ.in1 - first.begin()));
  }
  while (common > 0 && is_inside_code_point(first, common)) --common;
  return common;
}

/// Their common beginning where it finds room, and from a little before the place where they begin to differ.
Texts shortened_around_difference(const Texts& texts, std::size_t columns) {
  constexpr std::size_t kLeastHead = 8;
  const std::size_t common = columns_of(std::string_view(texts.front()).substr(0, common_begin(texts)));
  const std::size_t kept = std::min(common, columns / 4);  // of it, before what differs
  std::string head = shortened(texts.front(), std::min(columns / 3, common - kept));
  if (columns_of(head) < kLeastHead) head.clear();
  const std::size_t room = columns - columns_of(head);
  Texts cut;
  for (const std::string& text : texts) {
    const std::size_t wanted = columns_of(text) - common + kept;
    cut.push_back((head.empty() ? head : head.substr(0, head.size() - 3)) +
                  shortened(shortened_front(text, wanted + 3), head.empty() ? room : room + 3));
  }
  return cut;
}

/// In as many ways as there are, the wanted one first.
std::vector<Texts> ways_to_cut(const Texts& texts, std::size_t columns, Cut cut) {
  Texts middle;
  Texts front;
  Texts end;
  for (const std::string& text : texts) {
    middle.push_back(shortened_middle(text, columns));
    front.push_back(shortened_front(text, columns));
    end.push_back(shortened(text, columns));
  }
  if (cut == Cut::kFront) std::swap(middle, front);
  return {middle, front, end, shortened_around_difference(texts, columns)};
}

/// The first of those that tell most of the texts apart.
Texts most_distinct(const std::vector<Texts>& ways) {
  const auto distinct = [](const Texts& texts) { return std::set<std::string>(texts.begin(), texts.end()).size(); };
  return *std::ranges::max_element(ways, {}, distinct);
}

}  // namespace

std::vector<std::string> shortened_apart(const std::vector<std::string>& texts, std::size_t columns, Cut cut) {
  std::map<std::string, std::set<std::string>> alike;  // distinct texts by how they would read
  for (const std::string& text : texts) {
    alike[cut == Cut::kFront ? shortened_front(text, columns) : shortened_middle(text, columns)].insert(text);
  }
  std::map<std::string, std::string> reads;
  for (const auto& [shortened, of_one] : alike) {
    const Texts group(of_one.begin(), of_one.end());
    const Texts cut_apart = group.size() == 1 ? Texts{shortened} : most_distinct(ways_to_cut(group, columns, cut));
    for (std::size_t i = 0; i < group.size(); ++i) reads[group[i]] = cut_apart[i];
  }
  std::vector<std::string> result;
  for (const std::string& text : texts) result.push_back(reads[text]);
  return result;
}

}  // namespace interlace::report
