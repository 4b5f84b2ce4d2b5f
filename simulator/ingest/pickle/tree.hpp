#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlace::ingest::pickle {

enum class Kind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kHugeInteger,  ///< beyond 64 bits; which one is not kept
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kSet,
  kDict,
};

[[nodiscard]] std::string_view to_string(Kind kind);

class Tree;

/// One value of a Tree, by number. Asking a value for what it is not gives nothing, so that a reader of untrusted data
/// needs no checks before.
class Value {
 public:
  [[nodiscard]] Kind kind() const;
  [[nodiscard]] std::optional<bool> boolean() const;
  /// Of integers that int64 holds.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  /// Of integers from 0 to 2^64 - 1.
  [[nodiscard]] std::optional<std::uint64_t> unsigned_integer() const;
  /// Of floats, and of integers rounded.
  [[nodiscard]] std::optional<double> number() const;
  /// Of texts and bytes, which need not be UTF-8.
  [[nodiscard]] std::optional<std::string_view> text() const;

  /// Elements of a list, tuple or set, entries of a dictionary; else 0.
  [[nodiscard]] std::size_t size() const;
  /// The value of a dictionary at this text; the last where the key was set twice. Looks at all keys.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;

  class Iterator;
  /// Over the elements; those of a dictionary are its keys and values by turns. Nothing for other kinds.
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

  /// The number within the tree: equal for what the pickle shares.
  [[nodiscard]] std::uint32_t index() const { return index_; }

 private:
  friend class Tree;
  Value(const Tree& tree, std::uint32_t index) : tree_(&tree), index_(index) {}

  const Tree* tree_;
  std::uint32_t index_;
};

/// What a pickle says: values in an arena, containers referring to their elements by number. A value that stands at
/// many places, through the pickle's memo, is there once, so the arena takes a few dozen bytes for each byte of the
/// pickle at most. Containers may hold themselves; who walks down a tree of unknown shape must bound the depth.
/// Texts are views of the pickle, which must outlive the tree.
class Tree {
 public:
  [[nodiscard]] Value root() const { return {*this, root_}; }
  /// How many bytes the pickle took; what follows its STOP is not part of it.
  [[nodiscard]] std::size_t bytes_used() const { return bytes_used_; }
  [[nodiscard]] std::size_t values() const { return nodes_.size(); }

 private:
  friend class Value;
  friend class Value::Iterator;
  friend class Reader;

  static constexpr std::uint32_t kNoSpan = UINT32_MAX;

  struct Node {
    Kind kind = Kind::kNone;
    bool is_other = false;     ///< an integer above int64; a text that stands in decoded_ and not in the pickle
    std::uint16_t height = 0;  ///< of a container: how many lie below each other in it
    std::uint32_t length = 0;  ///< bytes of a text, items of a container (two for an entry of a dictionary)
    std::uint64_t word = 0;    ///< the number; where a text begins; the first and (high half) last span of a container
  };
  /// Elements of one container that lie side by side in items_.
  struct Span {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    std::uint32_t next = kNoSpan;
  };

  std::string_view pickle_;
  std::string decoded_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> items_;
  std::vector<Span> spans_;
  std::uint32_t root_ = 0;
  std::size_t bytes_used_ = 0;
};

class Value::Iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Value;

  Value operator*() const;
  Iterator& operator++();
  Iterator operator++(int) {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator& other) const { return span_ == other.span_ && at_ == other.at_; }

 private:
  friend class Value;
  Iterator(const Tree& tree, std::uint32_t span) : tree_(&tree), span_(span) {}

  const Tree* tree_;
  std::uint32_t span_;
  std::uint32_t at_ = 0;
};

}  // namespace interlace::ingest::pickle
