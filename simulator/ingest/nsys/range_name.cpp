#include "simulator/ingest/nsys/range_name.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace interlace::ingest::nsys {

namespace {

/// The number that follows at once; none where there is none.
std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool ends = end == text.data() + text.size() || *end == ',';
  return failure == std::errc() && ends ? std::optional(number) : std::nullopt;
}

}  // namespace

RangeName range_name(std::string_view text) {
  static constexpr std::string_view kSequence = ", seq = ";
  static constexpr std::string_view kOperator = ", op_id = ";
  RangeName range{.name = text, .kind = trace::RangeKind::kAnnotation, .sequence_number = {}};
  // From behind: the name may hold anything.
  bool is_of_pytorch = false;
  if (const std::size_t at = range.name.rfind(kOperator);
      at != std::string_view::npos && number_at(text.substr(at + kOperator.size()))) {
    range.name = range.name.substr(0, at);
    is_of_pytorch = true;
  }
  if (const std::size_t at = range.name.rfind(kSequence); at != std::string_view::npos) {
    range.sequence_number = number_at(range.name.substr(at + kSequence.size()));
    if (range.sequence_number) range.name = range.name.substr(0, at);
  }
  // The operators that PyTorch names without a namespace, apart from those of autograd.
  static constexpr std::array<std::string_view, 3> kBareOperators{"detach", "detach_", "record_param_comms"};
  const bool has_operator_name = range.name.find("::") != std::string_view::npos ||
                                 std::ranges::find(kBareOperators, range.name) != kBareOperators.end();
  if (range.sequence_number || (is_of_pytorch && has_operator_name)) range.kind = trace::RangeKind::kCpuOp;
  return range;
}

}  // namespace interlace::ingest::nsys
