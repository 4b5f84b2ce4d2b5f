#include "engine/collectives/communicator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/runtime/profile.hpp"

namespace interlace::engine {

namespace {

// FNV-1a.
constexpr std::uint64_t kFnvStart = 14695981039346656037U;
constexpr std::uint64_t kFnvPrime = 1099511628211U;

}  // namespace

Communicator::Communicator(Device& device, StreamId stream, int rank, int ranks)
    : device_(&device), stream_(stream), rank_(rank), ranks_(ranks), order_hash_(kFnvStart) {}

Awaitable Communicator::all_reduce_mean(std::string_view what, StreamId from, const Buffer<float>& values,
                                        std::size_t begin_at, std::size_t count) {
  begin(what, from);
  Profiled piece(*device_, "collective", std::string(what), stream_);
  queue_all_reduce_mean(std::string(what), values.span().subspan(begin_at, count));
  piece.end();
  return end({values.block()});
}

Awaitable Communicator::issue_all_to_all(AllToAll exchange, StreamId from,
                                         const std::vector<std::shared_ptr<Block>>& used) {
  begin(exchange.what, from);
  Profiled piece(*device_, "collective", exchange.what, stream_);
  queue_all_to_all(std::move(exchange));
  piece.end();
  return end(used);
}

void Communicator::begin(std::string_view what, StreamId from) {
  for (const char letter : what) {
    order_hash_ = (order_hash_ ^ static_cast<unsigned char>(letter)) * kFnvPrime;
  }
  device_->wait_stream(stream_, from);
}

// Empty arrays have no memory.
Awaitable Communicator::end(const std::vector<std::shared_ptr<Block>>& used) {
  std::vector<std::shared_ptr<Block>> blocks;
  std::ranges::copy_if(used, std::back_inserter(blocks), [](const auto& block) { return block != nullptr; });
  return {*device_, device_->record(stream_), std::make_shared<HeldMemory>(stream_, std::move(blocks))};
}

std::vector<Communicator::Part> Communicator::in_bytes(const std::vector<std::size_t>& counts,
                                                       const std::vector<std::size_t>& begins, std::size_t element) {
  std::vector<Part> parts;
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (!begins.empty()) next = begins[rank];
    parts.push_back({next * element, counts[rank] * element});
    next += counts[rank];
  }
  return parts;
}

std::vector<std::size_t> aligned_begins(const std::vector<std::size_t>& counts) {
  constexpr std::size_t kElements = 4;
  std::vector<std::size_t> begins = {0};
  for (const std::size_t count : counts) {
    begins.push_back((begins.back() + count + kElements - 1) / kElements * kElements);
  }
  return begins;
}

}  // namespace interlace::engine
