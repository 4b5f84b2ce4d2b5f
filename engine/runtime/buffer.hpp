#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/runtime/stream.hpp"

namespace interlace::engine {

/// A piece of memory from a stream's pool. Its destructor gives it back, in the host's time: the pool's own stream may
/// get it again at once, since what it queues from then on runs behind what is queued there now.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Block(Block&&) = delete;
  Block& operator=(Block&&) = delete;
  virtual ~Block() = default;

  [[nodiscard]] virtual std::byte* data() const = 0;
  /// record_stream: when this block is given back, nobody gets it before what is queued on `stream` then is done.
  virtual void used_on(StreamId stream) = 0;
};

/// An array in device or pinned host memory, held by the host. Copies share the memory.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Block> block, std::size_t size) : block_(std::move(block)), size_(size) {}

  [[nodiscard]] T* data() const { return block_ ? reinterpret_cast<T*>(block_->data()) : nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool allocated() const { return block_ != nullptr; }
  /// Raw view, for the work of streams. It keeps nothing alive.
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }
  void used_on(StreamId stream) const {
    if (block_) block_->used_on(stream);
  }
  /// Null where it is not allocated.
  [[nodiscard]] const std::shared_ptr<Block>& block() const { return block_; }

 private:
  std::shared_ptr<Block> block_;
  std::size_t size_ = 0;
};

}  // namespace interlace::engine
