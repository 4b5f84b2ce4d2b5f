#include "simulator/ingest/pickle/read_pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/pickle/errors.hpp"
#include "simulator/ingest/pickle/opcode.hpp"
#include "simulator/ingest/pickle/text_escapes.hpp"

namespace interlace::ingest::pickle {

namespace {

constexpr std::uint32_t kNoValue = UINT32_MAX;
constexpr std::uint8_t kNewestProtocol = 5;

}  // namespace

/// The machine that pickles are programs for: a stack of values with marks in it, and a memo of values to come back to.
/// It knows only the instructions that make plain data.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& place) : bytes_(bytes), place_(place) {
    tree_.pickle_ = bytes;
    tree_.nodes_.reserve(bytes.size() / 8);
    tree_.items_.reserve(bytes.size() / 8);
  }

  Tree read() {
    if (bytes_.size() >= UINT32_MAX) fail(kTooLarge, "the pickle is larger than 4 GiB", "record a shorter history");
    while (true) {
      opcode_at_ = at_;
      const std::uint8_t byte = take_byte();
      const auto opcode = static_cast<Opcode>(byte);
      if (opcode == Opcode::kStop) break;
      if (!do_memo(opcode) && !do_number(opcode) && !do_container(opcode) && !do_text(opcode) && !do_rest(opcode)) {
        refuse(byte);
      }
    }
    if (stack_.size() != 1 || !marks_.empty()) malformed("the pickle stops with values left over, or none");
    tree_.root_ = stack_.front();
    tree_.bytes_used_ = at_;
    return std::move(tree_);
  }

 private:
  using Node = Tree::Node;

  [[noreturn]] void fail(ErrorCode code, const std::string& what, const std::string& advice) const {
    throw Error(code, fmt::format("{}: byte {}", place_, opcode_at_), what, advice);
  }
  [[noreturn]] void malformed(const std::string& what) const {
    fail(kMalformed, what, "record again, or copy it again");
  }
  [[noreturn]] void refuse(std::uint8_t byte) const {
    if (const auto name = name_of_refused(byte)) {
      fail(kRefusedOpcode, fmt::format("the pickle's instruction {} would run code, which is never done", *name),
           "name what torch.cuda.memory._dump_snapshot wrote; do not open other pickles you do not trust");
    }
    malformed(fmt::format("no instruction of a pickle has the code 0x{:02x}", byte));
  }

  // The bytes.

  std::string_view take(std::size_t size) {
    if (size > bytes_.size() - at_) {
      fail(kTruncated, fmt::format("the file ends at byte {}, within what starts here", bytes_.size()),
           "copy the file again; where the program that wrote it was stopped, record again");
    }
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }
  std::uint8_t take_byte() { return static_cast<std::uint8_t>(take(1).front()); }

  /// A number of so many bytes, the lowest first.
  std::uint64_t take_fixed(std::size_t size) {
    const std::string_view taken = take(size);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) number |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    return number;
  }
  std::int64_t take_int32() { return static_cast<std::int32_t>(static_cast<std::uint32_t>(take_fixed(4))); }

  std::size_t take_length(std::size_t size) { return static_cast<std::size_t>(take_fixed(size)); }
  std::size_t take_signed_length() {
    const std::int64_t length = take_int32();
    if (length < 0) malformed("a length is negative");
    return static_cast<std::size_t>(length);
  }

  /// Up to the end of the line, which is taken off.
  std::string_view take_line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) (void)take(bytes_.size() - at_ + 1);
    const std::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  // Values.

  std::uint32_t add(const Node& node) {
    tree_.nodes_.push_back(node);
    return static_cast<std::uint32_t>(tree_.nodes_.size() - 1);
  }
  void push(const Node& node) { stack_.push_back(add(node)); }
  void push_integer(std::int64_t number) { push({.kind = Kind::kInteger, .word = static_cast<std::uint64_t>(number)}); }
  void push_float(double number) { push({.kind = Kind::kFloat, .word = std::bit_cast<std::uint64_t>(number)}); }
  void push_bool(bool value) { push({.kind = Kind::kBool, .word = value ? 1U : 0U}); }

  void push_text(Kind kind, std::string_view text) {
    push({.kind = kind,
          .length = static_cast<std::uint32_t>(text.size()),
          .word = static_cast<std::uint64_t>(text.data() - bytes_.data())});
  }
  void push_decoded(const std::optional<std::string>& text) {
    if (!text) malformed("the escapes of a text are damaged");
    push({.kind = Kind::kText,
          .is_other = true,
          .length = static_cast<std::uint32_t>(text->size()),
          .word = tree_.decoded_.size()});
    tree_.decoded_ += *text;
  }

  /// The lowest place of the stack that may be taken: what lies below the last mark belongs to an outer value.
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void need(std::size_t values) const {
    if (stack_.size() - floor() < values) malformed("an instruction lacks the values that it works on");
  }
  std::size_t take_mark() {
    if (marks_.empty()) malformed("an instruction lacks its mark");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }

  void push_container(Kind kind) {
    push({.kind = kind, .word = (std::uint64_t{Tree::kNoSpan} << 32U) | Tree::kNoSpan});
  }

  /// Moves the stack from `first` on into the container, which lies below.
  void append_from(std::size_t first, std::uint32_t container) {
    const auto count = static_cast<std::uint32_t>(stack_.size() - first);
    Node& node = tree_.nodes_[container];
    if (node.kind == Kind::kDict && count % 2 != 0) malformed("a dictionary has a key without a value");
    if (count == 0) return;
    for (std::size_t i = first; i < stack_.size(); ++i) {
      const std::size_t height = std::size_t{tree_.nodes_[stack_[i]].height} + 1;
      if (height > kMaxDepth) {
        fail(kTooDeep, fmt::format("more than {} containers lie in one another", kMaxDepth), "this is no snapshot");
      }
      node.height = std::max(node.height, static_cast<std::uint16_t>(height));
    }
    const auto last = static_cast<std::uint32_t>(node.word >> 32U);
    const auto begin = static_cast<std::uint32_t>(tree_.items_.size());
    tree_.items_.insert(tree_.items_.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
    node.length += count;
    if (last != Tree::kNoSpan && tree_.spans_[last].begin + tree_.spans_[last].count == begin) {
      tree_.spans_[last].count += count;
      return;
    }
    const auto span = static_cast<std::uint32_t>(tree_.spans_.size());
    tree_.spans_.push_back({.begin = begin, .count = count});
    if (last != Tree::kNoSpan) tree_.spans_[last].next = span;
    const std::uint64_t head = last == Tree::kNoSpan ? span : node.word & UINT32_MAX;
    node.word = (std::uint64_t{span} << 32U) | head;
  }

  /// What lies on the stack from `first` on becomes one value in its place.
  void gather(Kind kind, std::size_t first) {
    push_container(kind);
    const std::uint32_t container = stack_.back();
    stack_.pop_back();
    append_from(first, container);
    stack_.push_back(container);
  }
  void gather_last(Kind kind, std::size_t values) {
    need(values);
    gather(kind, stack_.size() - values);
  }

  /// The container below `first`, which must be of this kind.
  void extend(Kind kind, std::size_t first) {
    if (first <= floor()) malformed("an instruction lacks the container that it fills");
    const std::uint32_t container = stack_[first - 1];
    if (tree_.nodes_[container].kind != kind) {
      malformed(fmt::format("an instruction fills a {}, but finds a {}", to_string(kind),
                            to_string(tree_.nodes_[container].kind)));
    }
    append_from(first, container);
  }
  void extend_from_mark(Kind kind) {
    const std::size_t mark = take_mark();
    extend(kind, mark);
  }
  void extend_by(Kind kind, std::size_t values) {
    need(values + 1);
    extend(kind, stack_.size() - values);
  }

  // The memo.

  void get(std::uint64_t key) {
    if (key >= memo_.size() || memo_[key] == kNoValue) malformed(fmt::format("the memo holds nothing at {}", key));
    stack_.push_back(memo_[key]);
  }
  void put(std::uint64_t key) {
    need(1);
    // Whoever writes numbers them 0, 1, 2 ...; each takes a byte at least.
    if (key >= bytes_.size()) fail(kTooLarge, fmt::format("the memo has no place {}", key), "this is no snapshot");
    if (key >= memo_.size()) memo_.resize(key + 1, kNoValue);
    if (memo_[key] == kNoValue) ++memo_size_;
    memo_[key] = stack_.back();
  }
  std::uint64_t take_decimal() {
    const std::string_view line = take_line();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || end != line.data() + line.size()) malformed("a number is none");
    return number;
  }

  // The instructions, the most frequent first. Each group says whether the instruction is one of it.

  bool do_memo(Opcode opcode) {
    switch (opcode) {
      case Opcode::kBinGet: get(take_byte()); return true;
      case Opcode::kLongBinGet: get(take_fixed(4)); return true;
      case Opcode::kGet: get(take_decimal()); return true;
      case Opcode::kMemoize: put(memo_size_); return true;
      case Opcode::kBinPut: put(take_byte()); return true;
      case Opcode::kLongBinPut: put(take_fixed(4)); return true;
      case Opcode::kPut: put(take_decimal()); return true;
      default: return false;
    }
  }

  bool do_number(Opcode opcode) {
    switch (opcode) {
      case Opcode::kBinInt1: push_integer(take_byte()); return true;
      case Opcode::kBinInt2: push_integer(static_cast<std::int64_t>(take_fixed(2))); return true;
      case Opcode::kBinInt: push_integer(take_int32()); return true;
      case Opcode::kLong1: push_long(take(take_byte())); return true;
      case Opcode::kLong4: push_long(take(take_signed_length())); return true;
      case Opcode::kInt: push_decimal(take_line(), true); return true;
      case Opcode::kLong: push_decimal(take_line(), false); return true;
      case Opcode::kBinFloat: push_big_endian_float(take(8)); return true;
      case Opcode::kFloat: push_float_text(take_line()); return true;
      case Opcode::kNewTrue: push_bool(true); return true;
      case Opcode::kNewFalse: push_bool(false); return true;
      case Opcode::kNone: push({.kind = Kind::kNone}); return true;
      default: return false;
    }
  }

  /// Two's complement of any size, the lowest byte first.
  void push_long(std::string_view digits) {
    const auto byte_at = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(digits[i])}; };
    const bool is_negative = !digits.empty() && byte_at(digits.size() - 1) >= 0x80U;
    const char padding = is_negative ? '\xFF' : '\0';
    const std::size_t used = digits.find_last_not_of(padding) + 1;  // npos + 1 is 0
    if (used > 8) return push({.kind = Kind::kHugeInteger});
    std::uint64_t number = is_negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = used; i-- > 0;) number = (number << 8U) | byte_at(i);
    const bool has_top_bit = (number >> 63U) != 0;
    if (is_negative && !has_top_bit) return push({.kind = Kind::kHugeInteger});
    push({.kind = Kind::kInteger, .is_other = !is_negative && has_top_bit, .word = number});
  }

  /// knows_bool: INT writes booleans as 00 and 01.
  void push_decimal(std::string_view line, bool knows_bool) {
    if (knows_bool && (line == "00" || line == "01")) return push_bool(line == "01");
    if (line.ends_with('L')) line.remove_suffix(1);
    const char* const end = line.data() + line.size();
    std::int64_t number = 0;
    std::uint64_t large = 0;
    const auto as_signed = std::from_chars(line.data(), end, number);
    if (line.empty() || as_signed.ptr != end || as_signed.ec == std::errc::invalid_argument) {
      malformed("a number is none");
    }
    if (as_signed.ec == std::errc()) return push_integer(number);
    if (std::from_chars(line.data(), end, large).ec == std::errc()) {
      return push({.kind = Kind::kInteger, .is_other = true, .word = large});
    }
    push({.kind = Kind::kHugeInteger});
  }

  void push_big_endian_float(std::string_view bytes) {
    std::uint64_t bits = 0;
    for (const char byte : bytes) bits = (bits << 8U) | static_cast<unsigned char>(byte);
    push_float(std::bit_cast<double>(bits));
  }

  void push_float_text(std::string_view line) {
    double number = 0;
    const char* const end = line.data() + line.size();
    const auto [stopped, error] = std::from_chars(line.data(), end, number);
    if (line.empty() || stopped != end || error == std::errc::invalid_argument) malformed("a number is none");
    push_float(number);
  }

  bool do_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::kMark: marks_.push_back(stack_.size()); return true;
      case Opcode::kEmptyDict: push_container(Kind::kDict); return true;
      case Opcode::kSetItems: extend_from_mark(Kind::kDict); return true;
      case Opcode::kSetItem: extend_by(Kind::kDict, 2); return true;
      case Opcode::kDict: gather(Kind::kDict, take_mark()); return true;
      case Opcode::kEmptyList: push_container(Kind::kList); return true;
      case Opcode::kAppends: extend_from_mark(Kind::kList); return true;
      case Opcode::kAppend: extend_by(Kind::kList, 1); return true;
      case Opcode::kList: gather(Kind::kList, take_mark()); return true;
      case Opcode::kEmptyTuple: push_container(Kind::kTuple); return true;
      case Opcode::kTuple1: gather_last(Kind::kTuple, 1); return true;
      case Opcode::kTuple2: gather_last(Kind::kTuple, 2); return true;
      case Opcode::kTuple3: gather_last(Kind::kTuple, 3); return true;
      case Opcode::kTuple: gather(Kind::kTuple, take_mark()); return true;
      case Opcode::kEmptySet: push_container(Kind::kSet); return true;
      case Opcode::kAddItems: extend_from_mark(Kind::kSet); return true;
      case Opcode::kFrozenSet: gather(Kind::kSet, take_mark()); return true;
      default: return false;
    }
  }

  bool do_text(Opcode opcode) {
    switch (opcode) {
      case Opcode::kShortBinUnicode: push_text(Kind::kText, take(take_byte())); return true;
      case Opcode::kBinUnicode: push_text(Kind::kText, take(take_length(4))); return true;
      case Opcode::kBinUnicode8: push_text(Kind::kText, take(take_length(8))); return true;
      case Opcode::kShortBinString: push_text(Kind::kText, take(take_byte())); return true;
      case Opcode::kBinString: push_text(Kind::kText, take(take_signed_length())); return true;
      case Opcode::kString: push_decoded(unquoted(take_line())); return true;
      case Opcode::kUnicode: push_decoded(from_raw_unicode_escape(take_line())); return true;
      case Opcode::kShortBinBytes: push_text(Kind::kBytes, take(take_byte())); return true;
      case Opcode::kBinBytes: push_text(Kind::kBytes, take(take_length(4))); return true;
      case Opcode::kBinBytes8:
      case Opcode::kByteArray8: push_text(Kind::kBytes, take(take_length(8))); return true;
      default: return false;
    }
  }

  bool do_rest(Opcode opcode) {
    switch (opcode) {
      case Opcode::kProto: check_protocol(take_byte()); return true;
      // A frame tells how much to fetch ahead; all of the pickle is here.
      case Opcode::kFrame: (void)take(8); return true;
      case Opcode::kPop: pop(); return true;
      case Opcode::kPopMark: stack_.resize(take_mark()); return true;
      case Opcode::kDup:
        need(1);
        stack_.push_back(stack_.back());
        return true;
      default: return false;
    }
  }

  void check_protocol(std::uint8_t protocol) const {
    if (protocol <= kNewestProtocol) return;
    fail(kNewerProtocol, fmt::format("the pickle is of protocol {}; 0 to {} are known", protocol, kNewestProtocol),
         "write it with pickle.dump(..., protocol=4)");
  }

  void pop() {
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
      return;
    }
    need(1);
    stack_.pop_back();
  }

  std::string_view bytes_;
  const std::string& place_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  Tree tree_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::uint32_t> memo_;
  std::uint64_t memo_size_ = 0;  ///< how many it holds, which is where MEMOIZE puts the next
};

Tree read_pickle(std::string_view bytes, const std::string& place) { return Reader(bytes, place).read(); }

}  // namespace interlace::ingest::pickle
