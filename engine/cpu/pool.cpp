#include "engine/cpu/pool.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace interlace::engine::cpu {

namespace {

constexpr std::size_t kSmallest = 64;

void poison(std::byte* data, std::size_t size) { std::memset(data, 0xff, size); }

}  // namespace

class CpuPool::Lent : public Block {
 public:
  Lent(CpuPool& pool, std::byte* data, Shelf shelf) : pool_(&pool), data_(data), shelf_(std::move(shelf)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  Lent(Lent&&) = delete;
  Lent& operator=(Lent&&) = delete;
  ~Lent() override { pool_->give_back(data_, shelf_, used_on_); }

  [[nodiscard]] std::byte* data() const override { return data_; }
  void used_on(StreamId stream) override {
    if (stream == shelf_.first || std::ranges::find(used_on_, stream) != used_on_.end()) return;
    used_on_.push_back(stream);
  }

 private:
  CpuPool* pool_;
  std::byte* data_;
  Shelf shelf_;
  std::vector<StreamId> used_on_;
};

std::shared_ptr<Block> CpuPool::allocate(std::size_t bytes, std::optional<StreamId> pool) {
  const Shelf shelf{pool, std::bit_ceil(std::max(bytes, kSmallest))};
  shelve_unused();
  std::byte* data = take(shelf);
  if (data == nullptr) {
    memory_.emplace_back(static_cast<std::byte*>(::operator new[](shelf.second, kAlignment)));
    data = memory_.back().get();
    poison(data, shelf.second);
    if (pool) peaks_.reserved += static_cast<std::int64_t>(shelf.second);
  }
  if (pool) {
    allocated_ += static_cast<std::int64_t>(shelf.second);
    peaks_.allocated = std::max(peaks_.allocated, allocated_);
  }
  return std::make_shared<Lent>(*this, data, shelf);
}

std::byte* CpuPool::take(const Shelf& shelf) {
  const auto found = shelves_.find(shelf);
  if (found == shelves_.end() || found->second.empty()) return nullptr;
  std::byte* data = found->second.back();
  found->second.pop_back();
  return data;
}

void CpuPool::give_back(std::byte* data, const Shelf& shelf, const std::vector<StreamId>& used_on) {
  if (shelf.first) allocated_ -= static_cast<std::int64_t>(shelf.second);
  if (shelf.first && used_on.empty()) {
    hooks_.launch(*shelf.first, [data, size = shelf.second](NativeStream) { poison(data, size); });
    shelves_[shelf].push_back(data);
    return;
  }
  Returned returned{.data = data, .shelf = shelf, .uses = {}, .own = {}};
  for (const StreamId stream : used_on) returned.uses.push_back(hooks_.record(stream));
  if (shelf.first) returned.own = hooks_.record(*shelf.first);
  returned_.push_back(std::move(returned));
}

void CpuPool::shelve_unused() {
  const auto unused = [](const Returned& returned) {
    return std::ranges::all_of(returned.uses, [](const auto& event) { return event->done; });
  };
  for (const Returned& returned : returned_) {
    if (!unused(returned)) continue;
    if (!returned.own || returned.own->done) poison(returned.data, returned.shelf.second);
    shelves_[returned.shelf].push_back(returned.data);
  }
  std::erase_if(returned_, unused);
}

}  // namespace interlace::engine::cpu
