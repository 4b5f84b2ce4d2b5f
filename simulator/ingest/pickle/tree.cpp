#include "simulator/ingest/pickle/tree.hpp"

#include <array>
#include <bit>

namespace interlace::ingest::pickle {

namespace {

constexpr bool is_container(Kind kind) { return kind >= Kind::kList; }

}  // namespace

std::string_view to_string(Kind kind) {
  static constexpr std::array<std::string_view, 11> kNames{"none",  "bool", "integer", "huge integer", "float", "text",
                                                           "bytes", "list", "tuple",   "set",          "dict"};
  return kNames[static_cast<std::size_t>(kind)];
}

Kind Value::kind() const { return tree_->nodes_[index_].kind; }

std::optional<bool> Value::boolean() const {
  const Tree::Node& node = tree_->nodes_[index_];
  return node.kind == Kind::kBool ? std::optional(node.word != 0) : std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  const Tree::Node& node = tree_->nodes_[index_];
  if (node.kind != Kind::kInteger || node.is_other) return std::nullopt;
  return static_cast<std::int64_t>(node.word);
}

std::optional<std::uint64_t> Value::unsigned_integer() const {
  const Tree::Node& node = tree_->nodes_[index_];
  if (node.kind != Kind::kInteger) return std::nullopt;
  if (!node.is_other && static_cast<std::int64_t>(node.word) < 0) return std::nullopt;
  return node.word;
}

std::optional<double> Value::number() const {
  const Tree::Node& node = tree_->nodes_[index_];
  if (node.kind == Kind::kFloat) return std::bit_cast<double>(node.word);
  if (node.kind != Kind::kInteger) return std::nullopt;
  return node.is_other ? static_cast<double>(node.word) : static_cast<double>(static_cast<std::int64_t>(node.word));
}

std::optional<std::string_view> Value::text() const {
  const Tree::Node& node = tree_->nodes_[index_];
  if (node.kind != Kind::kText && node.kind != Kind::kBytes) return std::nullopt;
  const std::string_view all = node.is_other ? std::string_view(tree_->decoded_) : tree_->pickle_;
  return all.substr(static_cast<std::size_t>(node.word), node.length);
}

std::size_t Value::size() const {
  const Tree::Node& node = tree_->nodes_[index_];
  if (!is_container(node.kind)) return 0;
  return node.kind == Kind::kDict ? node.length / 2 : node.length;
}

std::optional<Value> Value::find(std::string_view key) const {
  std::optional<Value> found;
  if (kind() != Kind::kDict) return found;
  for (auto at = begin(); at != end(); ++at) {
    const Value known = *at;
    ++at;
    if (known.text() == key) found = *at;
  }
  return found;
}

Value::Iterator Value::begin() const {
  const Tree::Node& node = tree_->nodes_[index_];
  if (!is_container(node.kind) || node.length == 0) return end();
  return {*tree_, static_cast<std::uint32_t>(node.word)};
}

Value::Iterator Value::end() const { return {*tree_, Tree::kNoSpan}; }

Value Value::Iterator::operator*() const {
  return {*tree_, tree_->items_[std::size_t{tree_->spans_[span_].begin} + at_]};
}

Value::Iterator& Value::Iterator::operator++() {
  if (++at_ < tree_->spans_[span_].count) return *this;
  at_ = 0;
  span_ = tree_->spans_[span_].next;
  return *this;
}

}  // namespace interlace::ingest::pickle
