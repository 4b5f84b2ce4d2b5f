#include "simulator/allocator/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace interlace::allocator {

namespace {

constexpr std::string_view kMarks = ",:[]";
constexpr Bytes kMost = Configuration::kUnlimited / kMiB;  // in MiB

/// Words and the marks , : [ ], without blanks.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  bool in_word = false;
  for (const char c : text) {
    if (c == ' ') continue;  // also inside a word
    if (kMarks.find(c) != std::string_view::npos) {
      tokens.emplace_back(1, c);
      in_word = false;
    } else if (in_word) {
      tokens.back() += c;
    } else {
      tokens.emplace_back(1, c);
      in_word = true;
    }
  }
  return tokens;
}

/// Reads one option after the other; every read names the option at fault.
class Reader {
 public:
  Reader(std::string_view text, std::string_view source) : tokens_(tokens_of(text)), source_(source) {}

  [[nodiscard]] bool at_end() const { return next_ == tokens_.size(); }
  [[nodiscard]] bool at(std::string_view token) const { return !at_end() && tokens_[next_] == token; }
  void rewind() { next_ = 0; }

  std::string word(std::string_view what) {
    if (at_end() || kMarks.find(tokens_[next_]) != std::string_view::npos) {
      refuse(fmt::format("{} is missing", what));
    }
    return tokens_[next_++];
  }

  void mark(std::string_view expected) {
    if (!at(expected)) {
      refuse(fmt::format("\"{}\" expected, not {}", expected,
                         at_end() ? "the end" : fmt::format("\"{}\"", tokens_[next_])));
    }
    ++next_;
  }

  /// The next option's name, with its colon taken.
  std::string option() {
    option_.clear();
    option_ = word("an option");
    mark(":");
    return option_;
  }

  /// Takes the comma before another option.
  void end_option() {
    option_.clear();
    if (!at_end()) mark(",");
  }

  Bytes whole_number(std::string_view what) { return parsed<Bytes>(word(what), "a whole number"); }

  double fraction() { return parsed<double>(word("a value"), "a number"); }

  bool truth() {
    const std::string value = word("a value");
    if (value != "True" && value != "False") wrong(fmt::format("\"{}\" is neither True nor False", value));
    return value == "True";
  }

  /// Passes over the value of an option that this pass does not read.
  void skip_value() {
    if (!at("[")) {
      word("a value");
      return;
    }
    while (!at_end() && !at("]")) ++next_;
    mark("]");
  }

  [[noreturn]] void refuse(const std::string& problem) const { fail(kBadConfiguration, problem); }
  [[noreturn]] void wrong(const std::string& problem) const { fail(kBadOptionValue, problem); }
  [[noreturn]] void fail(const ErrorCode& code, const std::string& problem) const {
    throw Error(code, std::string(source_), option_.empty() ? problem : option_ + ": " + problem,
                "write it as PYTORCH_CUDA_ALLOC_CONF has it, such as max_split_size_mb:512,expandable_segments:True");
  }

 private:
  template <class Number>
  Number parsed(const std::string& text, std::string_view kind) const {
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) {
      wrong(fmt::format("\"{}\" is not {}", text, kind));
    }
    return number;
  }

  std::vector<std::string> tokens_;
  std::string_view source_;
  std::size_t next_ = 0;
  std::string option_;  ///< the one being read; empty between options
};

bool is_power_of_two(Bytes n) { return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)); }

Bytes mebibytes(Reader& reader, Bytes at_least) {
  const Bytes value = reader.whole_number("a size in MB");
  if (value < at_least) reader.wrong(fmt::format("{} MB is too small, it must be at least {}", value, at_least));
  return std::min(value, kMost) * kMiB;
}

Bytes divisions(Reader& reader, bool zero_allowed) {
  const Bytes value = reader.whole_number("a number of divisions");
  if (!is_power_of_two(value) && !(zero_allowed && value == 0)) {
    reader.wrong(fmt::format("{} divisions: must be a power of two{}", value, zero_allowed ? " or 0" : ""));
  }
  return value;
}

/// "[64:8,256:4,>:1]": the first size also stands for all below, ">" for all after the last; others keep 0.
void read_division_list(Reader& reader, Configuration& configuration) {
  auto& slots = configuration.roundup_power2_divisions;
  std::optional<std::size_t> last;
  reader.mark("[");
  while (!reader.at("]")) {
    const bool rest = reader.at(">");
    const Bytes size = rest ? (reader.word(">"), 0) : reader.whole_number("a size in MB");
    if (!rest && !is_power_of_two(size)) reader.wrong(fmt::format("size {} MB: must be a power of two", size));
    reader.mark(":");
    const Bytes value = divisions(reader, true);
    if (rest) {
      std::fill(slots.begin() + static_cast<std::ptrdiff_t>(last.value_or(0)) + 1, slots.end(), value);
    } else {
      const auto log2 = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(size)));
      const std::size_t slot = std::min(log2, slots.size() - 1);
      if (!last) std::fill(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(slot), value);
      slots[slot] = value;
      last = slot;
    }
    if (!reader.at("]")) reader.mark(",");
  }
  reader.mark("]");
}

void read_fraction(Reader& reader, double& into, bool ends_allowed) {
  const double value = reader.fraction();
  const bool inside = value > 0 && value < 1;
  if (!inside && !(ends_allowed && (value == 0 || value == 1))) {
    reader.wrong(fmt::format("{} must lie {} 0 and 1", value, ends_allowed ? "from" : "between"));
  }
  into = value;
}

void read_backend(Reader& reader, std::string_view source) {
  const std::string value = reader.word("a backend");
  if (value == "native") return;
  if (value == "cudaMallocAsync") {
    throw Error(kUnsupportedBackend, std::string(source), "the allocator of cudaMallocAsync is not modelled",
                "record with the native allocator");
  }
  reader.wrong(fmt::format("\"{}\" is neither native nor cudaMallocAsync", value));
}

/// Options that do not decide where blocks of the device go. True: it was one.
bool read_other(Reader& reader, std::string_view option, std::string_view source, Diagnostics& diagnostics) {
  constexpr std::array kTruths{"release_lock_on_cudamalloc", "release_lock_on_hipmalloc",
                               "pinned_use_cuda_host_register", "pinned_use_hip_host_register",
                               "pinned_use_background_threads"};
  constexpr std::array kNumbers{"pinned_num_register_threads", "pinned_reserve_segment_size_mb"};
  constexpr std::array kActing{"graph_capture_record_stream_reuse", "throw_on_cudamalloc_oom"};
  if (std::ranges::find(kTruths, option) != kTruths.end()) {
    reader.truth();
  } else if (std::ranges::find(kNumbers, option) != kNumbers.end()) {
    reader.whole_number("a number");
  } else if (std::ranges::find(kActing, option) != kActing.end()) {
    if (reader.truth()) diagnostics.count(kOptionNotModelled, fmt::format("{}: {}", source, option));
  } else {
    return false;
  }
  return true;
}

}  // namespace

Configuration parse_configuration(std::string_view text, std::string_view source, Diagnostics& diagnostics) {
  Configuration configuration;
  Reader reader(text, source);
  // The size of large segments bounds other options, wherever it stands among them.
  while (!reader.at_end()) {
    if (reader.option() == "large_segment_size_mb") {
      constexpr Bytes kSmallest = 11;  // more than 10
      configuration.large_segment_size = mebibytes(reader, kSmallest);
    } else {
      reader.skip_value();
    }
    reader.end_option();
  }
  configuration.max_non_split_rounding = configuration.large_segment_size;
  const Bytes least = configuration.large_segment_size / kMiB;
  reader.rewind();
  while (!reader.at_end()) {
    const std::string option = reader.option();
    if (option == "large_segment_size_mb") {
      reader.skip_value();
    } else if (option == "max_split_size_mb") {
      configuration.max_split_size = mebibytes(reader, least);
    } else if (option == "max_non_split_rounding_mb") {
      configuration.max_non_split_rounding = mebibytes(reader, least);
    } else if (option == "garbage_collection_threshold") {
      read_fraction(reader, configuration.garbage_collection_threshold, false);
    } else if (option == "per_process_memory_fraction") {
      read_fraction(reader, configuration.per_process_memory_fraction, true);
    } else if (option == "expandable_segments") {
      configuration.expandable_segments = reader.truth();
    } else if (option == "roundup_power2_divisions") {
      if (reader.at("[")) {
        read_division_list(reader, configuration);
      } else {
        configuration.roundup_power2_divisions.fill(divisions(reader, false));
      }
    } else if (option == "backend") {
      read_backend(reader, source);
    } else if (!read_other(reader, option, source, diagnostics)) {
      reader.skip_value();
      diagnostics.count(kOptionNotModelled, fmt::format("{}: {}", source, option));
    }
    reader.end_option();
  }
  return configuration;
}

}  // namespace interlace::allocator
