#include "simulator/schedule/located_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "simulator/base/json_error.hpp"

namespace interlace::schedule {

namespace {

constexpr std::size_t kDeepest = 32;  // a schedule needs 6; the bound keeps hostile input off our stack

// The line of the character last read: a newline counts only once something behind it is read. So the one character
// that the lexer must look ahead to see the end of a number does not move the number to the next line.
struct LineCounter {
  int line = 1;
  bool behind_newline = false;

  void read(char c) {
    if (behind_newline) ++line;
    behind_newline = c == '\n';
  }
};

// Walks a text and tells a counter of each character that nlohmann's lexer takes.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, LineCounter* counter) : at_(at), counter_(counter) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    counter_->read(*at_);
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  LineCounter* counter_;
};

// Builds the values from the parser's events, each stamped with the line on which its event came.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(const LineCounter& counter) : counter_(counter) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (!std::in_range<std::int64_t>(value)) return put(static_cast<double>(value));
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // never in a text
  bool start_object(std::size_t /*count*/) override { return open(LocatedJson::Object{}); }
  bool start_array(std::size_t /*count*/) override { return open(LocatedJson::Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    keys_.push_back({std::move(name), counter_.line, {}});
    return true;
  }
  bool parse_error(std::size_t /*byte*/, const std::string& /*token*/, const nlohmann::detail::exception& e) override {
    problem_ = Problem{kSyntax, counter_.line, fmt::format("not JSON: {}", json_complaint(e.what()))};
    return false;
  }

  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
  [[nodiscard]] std::optional<LocatedJson> take() { return std::move(root_); }

 private:
  bool open(decltype(LocatedJson::value) value) {
    if (open_.size() >= kDeepest) {
      problem_ = Problem{kSyntax, counter_.line, fmt::format("nested deeper than {} levels", kDeepest)};
      return false;
    }
    open_.push_back({counter_.line, std::move(value)});
    return true;
  }

  bool close() {
    LocatedJson done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done));
    return true;
  }

  bool put(decltype(LocatedJson::value) value) {
    add({counter_.line, std::move(value)});
    return true;
  }

  void add(LocatedJson done) {
    if (open_.empty()) {
      root_ = std::move(done);
    } else if (auto* array = std::get_if<LocatedJson::Array>(&open_.back().value)) {
      array->push_back(std::move(done));
    } else {
      LocatedJson::Member member = std::move(keys_.back());
      keys_.pop_back();
      member.value = std::move(done);
      std::get<LocatedJson::Object>(open_.back().value).push_back(std::move(member));
    }
  }

  const LineCounter& counter_;
  std::vector<LocatedJson> open_;          // objects and arrays not closed yet, outermost first
  std::vector<LocatedJson::Member> keys_;  // keys whose value is not complete yet, outermost first
  std::optional<LocatedJson> root_;
  std::optional<Problem> problem_;
};

}  // namespace

std::string_view kind_of(const LocatedJson& json) {
  constexpr std::array<std::string_view, 7> kKinds = {"null",     "true or false", "a whole number", "a fraction",
                                                      "a string", "an array",      "an object"};
  static_assert(kKinds.size() == std::variant_size_v<decltype(LocatedJson::value)>);
  constexpr double kBeyondInt64 = 0x1p63;
  const auto* number = json.get_if<double>();
  if (number != nullptr && std::abs(*number) >= kBeyondInt64) return "a number beyond 64 bits";
  return kKinds.at(json.value.index());
}

std::optional<LocatedJson> read_located_json(std::string_view text, std::vector<Problem>& problems) {
  LineCounter counter;
  Builder builder(counter);
  const CountingIterator begin(text.data(), &counter);
  const CountingIterator end(text.data() + text.size(), &counter);
  if (nlohmann::json::sax_parse(begin, end, &builder)) return builder.take();
  problems.push_back(builder.problem().value_or(Problem{kSyntax, counter.line, "not JSON"}));
  return std::nullopt;
}

}  // namespace interlace::schedule
