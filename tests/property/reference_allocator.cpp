#include "tests/property/reference_allocator.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace interlace::allocator {

namespace {

Bytes up(Bytes n, Bytes multiple) {
  while (n % multiple != 0) n += multiple - n % multiple;
  return n;
}

Address at(Address address, Bytes offset) { return address + static_cast<Address>(offset); }

}  // namespace

ReferenceAllocator::ReferenceAllocator(const Configuration& configuration, DriverMemory memory, Completion completion,
                                       Fault fault)
    : configuration_(configuration), memory_(std::move(memory)), completion_(completion), fault_(fault) {
  if (configuration.per_process_memory_fraction < 1) {
    cap_ = static_cast<Bytes>(configuration.per_process_memory_fraction * static_cast<double>(*memory_.total()));
  }
}

PoolOptions& ReferenceAllocator::pool_options(PoolId pool) {
  for (auto& [id, options] : options_) {
    if (id == pool) return options;
  }
  users_[pool] = 1;
  return options_.emplace_back(pool, PoolOptions{}).second;
}

Bytes ReferenceAllocator::rounded(Bytes requested) const {
  if (requested < 512) return 512;
  if (fault_ == Fault::kRoundsToPowers) {
    Bytes power = 512;
    while (power < requested) power *= 2;
    return power;
  }
  std::size_t interval = 0;
  for (Bytes upper = 2 * kMiB; requested >= upper && interval < 15; upper *= 2) ++interval;
  const Bytes divisions = configuration_.roundup_power2_divisions.at(interval);
  if (divisions <= 1 || requested <= 512 * divisions) return up(requested, 512);
  Bytes power = 1;
  while (power * 2 <= requested) power *= 2;
  return up(requested, power / divisions);
}

std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::left_of(Pieces::iterator piece) {
  if (piece == pieces_.begin() || std::prev(piece)->second.segment != piece->second.segment) return std::nullopt;
  return std::prev(piece);
}

std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::right_of(Pieces::iterator piece) {
  const auto next = std::next(piece);
  if (next == pieces_.end() || next->second.segment != piece->second.segment) return std::nullopt;
  return next;
}

/// By size, then address.
std::vector<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::free_pieces(const Key& key) {
  std::vector<Pieces::iterator> found;
  for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
    const Segment& segment = segments_.at(piece->second.segment);
    const bool own_stream = segment.stream == key.stream || fault_ == Fault::kSharesAllStreams;
    const bool matches = segment.pool == key.pool && segment.small == key.small && own_stream;
    if (matches && piece->second.what == What::kFree) found.push_back(piece);
  }
  if (fault_ == Fault::kHighestAddress) std::ranges::reverse(found);
  std::stable_sort(found.begin(), found.end(), [](auto a, auto b) { return a->second.size < b->second.size; });
  return found;
}

bool ReferenceAllocator::may_expand(PoolId pool) {
  if (!configuration_.expandable_segments) return false;
  return pool.is_default() || !pool_options(pool).own_allocator;
}

Bytes ReferenceAllocator::held() const {
  Bytes sum = 0;
  for (const auto& [address, piece] : pieces_) sum += piece.what == What::kNoMemory ? 0 : piece.size;
  return sum;
}

std::int64_t& ReferenceAllocator::searches(const Piece& piece) {
  const Segment& segment = segments_.at(piece.segment);
  return searches_[{segment.pool, segment.small}];
}

ReferenceAllocator::Answer ReferenceAllocator::malloc(Bytes requested, Stream stream, Nanoseconds now) {
  if (routes_.empty()) poll(now);
  const Bytes size = rounded(requested);
  Key key{{}, size <= kMiB, stream};
  for (const auto& [pool, takes] : routes_) {
    if (takes(stream)) key.pool = pool;  // the last one counts
  }
  bool expanding = may_expand(key.pool);
  Answer answer;
  auto piece = find(key, size, expanding);
  if (!piece) {
    if (counts_searches()) collect_garbage();
    piece = from_driver(key, size);
    if (!piece && key.pool.is_default()) {
      piece = from_overflow(key, size);
      if (piece) expanding = false;
    }
    if (!piece && release_oversize(key, size)) piece = from_driver(key, size);
    if (!piece && routes_.empty()) {
      answer.synchronised = true;
      answer.waited_until = release_all();
      ++counts_.num_alloc_retries;
      piece = from_driver(key, size);
    }
  }
  if (!piece) {
    ++counts_.num_ooms;
    answer.out_of_memory = true;
    return answer;
  }
  Piece& given = (*piece)->second;
  const Bytes rest = given.size - size;
  bool split = key.small || expanding ? rest >= 512 : size < configuration_.max_split_size && rest > kMiB;
  if (fault_ == Fault::kAlwaysSplits) split = rest >= 512;
  if (!key.pool.is_default() && pool_options(key.pool).no_split) split = false;
  if (split) {
    given.size = size;
    const Address behind = at((*piece)->first, size);
    pieces_[behind] = {.size = rest, .age_base = searches(given), .segment = given.segment};
  }
  given.what = What::kUsed;
  given.requested = requested;
  answer.address = (*piece)->first;
  answer.size = given.size;
  Statistics s = statistics();
  for (const auto member : {&Statistics::allocation, &Statistics::allocated_bytes, &Statistics::active,
                            &Statistics::active_bytes, &Statistics::requested_bytes}) {
    PoolStat& peaks = counts_.*member;
    peaks.all.peak = std::max(peaks.all.peak, (s.*member).all.current);
    peaks.small_pool.peak = std::max(peaks.small_pool.peak, (s.*member).small_pool.current);
    peaks.large_pool.peak = std::max(peaks.large_pool.peak, (s.*member).large_pool.current);
  }
  return answer;
}

std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::find(const Key& key, Bytes size,
                                                                             bool expanding) {
  if (counts_searches()) ++searches_[{key.pool, key.small}];
  std::vector<Pieces::iterator> fitting;
  for (const auto piece : free_pieces(key)) {
    const bool usable = expanding || !segments_.at(piece->second.segment).expandable;
    if (piece->second.size >= size && usable) fitting.push_back(piece);
  }
  if (fitting.empty()) return std::nullopt;
  const auto grown = [&](Pieces::iterator piece) {
    const auto right = right_of(piece);
    return piece->second.size + (right && (*right)->second.what == What::kNoMemory ? (*right)->second.size : 0);
  };
  std::size_t n = 0;
  while (segments_.at(fitting[n]->second.segment).expandable && n + 1 < fitting.size() &&
         grown(fitting[n + 1]) < grown(fitting[n])) {
    ++n;
  }
  const Bytes found = fitting[n]->second.size;
  const Bytes oversize = configuration_.max_split_size;
  if (size < oversize && found >= oversize) return std::nullopt;
  if (size >= oversize && found >= size + configuration_.max_non_split_rounding) return std::nullopt;
  return fitting[n];
}

std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::from_driver(const Key& key, Bytes size) {
  const Bytes segment = key.small          ? 2 * kMiB
                        : size < 10 * kMiB ? configuration_.large_segment_size
                                           : up(size, 2 * kMiB);
  if (cap_ && held() + segment > *cap_) return std::nullopt;
  if (may_expand(key.pool)) return from_expandable(key, size);
  const auto address = memory_.allocate(segment);
  if (!address) return std::nullopt;
  ++counts_.num_device_alloc;
  segments_[next_segment_] = {*address, segment, key.stream, key.small, key.pool, false};
  return pieces_.insert({*address, {.size = segment, .segment = next_segment_++}}).first;
}

std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::from_expandable(const Key& key, Bytes size) {
  const auto open = [](Pieces::iterator piece) {
    return piece->second.what == What::kFree || piece->second.what == What::kNoMemory;
  };
  // The first piece, in order of address, from which on `size` bytes are free or without memory, and which is without
  // memory or stands before one that is.
  std::optional<Pieces::iterator> start;
  for (auto piece = pieces_.begin(); piece != pieces_.end() && !start; ++piece) {
    const Segment& segment = segments_.at(piece->second.segment);
    if (segment.pool != key.pool || segment.small != key.small || segment.stream != key.stream) continue;
    if (piece->second.what != What::kNoMemory) continue;
    const auto left = left_of(piece);
    const auto from = left && open(*left) ? *left : piece;
    Bytes room = 0;
    for (std::optional<Pieces::iterator> p = from; p && open(*p); p = right_of(*p)) room += (*p)->second.size;
    if (room >= size) start = from;
  }
  if (!start) {
    const Bytes page = key.small ? 2 * kMiB : configuration_.large_segment_size;
    const Bytes range = up(*memory_.total() + *memory_.total() / 8, page);
    const Address address = memory_.reserve_range(range);
    segments_[next_segment_] = {address, range, key.stream, key.small, key.pool, true};
    start = pieces_.insert({address, {.size = range, .what = What::kNoMemory, .segment = next_segment_++}}).first;
  }
  auto piece = *start;
  if (piece->second.what == What::kNoMemory) {
    const auto given = give_memory(piece, std::min(size, piece->second.size));
    if (!given) return std::nullopt;
    piece = *given;
  }
  while (piece->second.size < size) {
    const auto right = *right_of(piece);
    const auto given = give_memory(right, std::min(size - piece->second.size, right->second.size));
    if (!given) return std::nullopt;
    piece = *given;
  }
  return piece;
}

/// The free piece that the new memory is part of afterwards.
std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::give_memory(Pieces::iterator piece,
                                                                                    Bytes size) {
  const Bytes page = segments_.at(piece->second.segment).small ? 2 * kMiB : configuration_.large_segment_size;
  const Bytes given = std::min(up(size, page), piece->second.size);
  if (!memory_.map(given)) return std::nullopt;
  ++counts_.num_device_alloc;
  if (given < piece->second.size) {
    pieces_[at(piece->first, given)] = {
        .size = piece->second.size - given, .what = What::kNoMemory, .segment = piece->second.segment};
  }
  piece->second.size = given;
  piece->second.what = What::kFree;
  return join(piece);
}

std::optional<ReferenceAllocator::Pieces::iterator> ReferenceAllocator::from_overflow(Key& key, Bytes size) {
  for (const auto& [pool, options] : options_) {
    if (!options.use_on_oom) continue;
    const Key other{pool, key.small, key.stream};
    if (const auto piece = find(other, size, false)) {
      key = other;
      return piece;
    }
  }
  return std::nullopt;
}

void ReferenceAllocator::free(Address address, const std::vector<StreamUse>& uses) {
  Piece& piece = pieces_.at(address);
  piece.what = What::kPending;
  std::vector<StreamUse> others;
  for (const StreamUse& use : uses) {
    const bool counts = use.stream != segments_.at(piece.segment).stream && fault_ != Fault::kForgetsStreams;
    if (counts) others.push_back(use);
  }
  if (completion_ == Completion::kDriven) {
    waiting_.push_back(address);
  } else if (others.empty()) {
    complete(address);
  } else if (routes_.empty()) {
    record(address, others);
  } else {
    deferred_.emplace_back(address, others);
  }
}

void ReferenceAllocator::record(Address address, const std::vector<StreamUse>& uses) {
  std::map<Stream, Nanoseconds> last;
  std::vector<Stream> order;
  for (const StreamUse& use : uses) {
    const auto [entry, first] = last.emplace(use.stream, use.drained_at);
    entry->second = std::max(entry->second, use.drained_at);
    if (first) order.push_back(use.stream);
  }
  for (const Stream stream : order) {
    Nanoseconds done_at = last.at(stream);
    if (completion_ == Completion::kNextMalloc) done_at = std::numeric_limits<Nanoseconds>::min();
    if (completion_ == Completion::kSynchronise) done_at = std::numeric_limits<Nanoseconds>::max();
    events_[stream].emplace_back(done_at, address);
    ++pieces_.at(address).events;
  }
}

void ReferenceAllocator::poll(Nanoseconds now) {
  for (const auto& [address, uses] : deferred_) record(address, uses);
  deferred_.clear();
  for (auto& [stream, queue] : events_) {
    while (!queue.empty() && queue.front().first <= now) {
      const Address address = queue.front().second;
      queue.pop_front();
      done(address);
    }
  }
}

void ReferenceAllocator::done(Address address) {
  if (--pieces_.at(address).events == 0) complete(address);
}

void ReferenceAllocator::complete(Address address) {
  std::erase(waiting_, address);
  const auto piece = pieces_.find(address);
  piece->second.what = What::kFree;
  piece->second.requested = 0;
  join(piece);
}

/// Joins a piece with neighbours of its kind.
ReferenceAllocator::Pieces::iterator ReferenceAllocator::join(Pieces::iterator piece) {
  if (fault_ == Fault::kNeverMerges) return piece;
  if (const auto right = right_of(piece); right && (*right)->second.what == piece->second.what) {
    piece->second.size += (*right)->second.size;
    pieces_.erase(*right);
  }
  if (const auto left = left_of(piece); left && (*left)->second.what == piece->second.what) {
    (*left)->second.size += piece->second.size;
    pieces_.erase(piece);
    piece = *left;
  }
  piece->second.age_base = searches(piece->second);
  return piece;
}

void ReferenceAllocator::synchronise() {
  for (auto& [stream, queue] : events_) {
    for (auto& event : queue) event.first = std::numeric_limits<Nanoseconds>::min();
  }
}

std::optional<Nanoseconds> ReferenceAllocator::empty_cache() { return release_all(); }

void ReferenceAllocator::begin_allocate_to_pool(PoolId pool, std::function<bool(Stream)> takes) {
  const bool known = users_.contains(pool);
  pool_options(pool);
  if (known) ++users_.at(pool);
  routes_.emplace_back(pool, std::move(takes));
}

void ReferenceAllocator::end_allocate_to_pool(PoolId pool) {
  routes_.erase(std::ranges::find(routes_, pool, &std::pair<PoolId, std::function<bool(Stream)>>::first));
}

void ReferenceAllocator::collect_garbage() {
  const auto threshold = static_cast<Bytes>(configuration_.garbage_collection_threshold * static_cast<double>(*cap_));
  if (held() <= threshold) return;
  const Bytes target = held() - threshold;
  Bytes released = 0;
  while (released < target) {
    std::int64_t ages = 0;
    std::vector<Pieces::iterator> whole;
    for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
      const Segment& segment = segments_.at(piece->second.segment);
      if (!segment.pool.is_default() || segment.small || piece->second.what != What::kFree || !alone(piece)) continue;
      whole.push_back(piece);
      ages += searches(piece->second) - piece->second.age_base;
    }
    if (whole.empty()) return;
    const double mean = static_cast<double>(ages) / static_cast<double>(whole.size());
    bool some = false;
    // Segments come back to the driver in the order of the free list.
    std::ranges::stable_sort(whole, [&](auto a, auto b) {
      return std::tuple(segments_.at(a->second.segment).stream, a->second.size) <
             std::tuple(segments_.at(b->second.segment).stream, b->second.size);
    });
    for (const auto piece : whole) {
      if (segments_.at(piece->second.segment).expandable) continue;
      if (static_cast<double>(searches(piece->second) - piece->second.age_base) < mean) continue;
      released += piece->second.size;
      give_back(piece);
      some = true;
    }
    if (!some) return;
  }
}

bool ReferenceAllocator::release_oversize(const Key& key, Bytes size) {
  const Bytes limit = configuration_.max_split_size;
  if (limit == Configuration::kUnlimited) return false;
  const Bytes wanted = std::max(size, limit);
  const auto free = free_pieces(key);
  const auto first = std::ranges::find_if(free, [&](auto piece) { return piece->second.size >= wanted; });
  if (first != free.end() && !segments_.at((*first)->second.segment).expandable) {
    give_back(*first);
    return true;
  }
  Bytes released = 0;
  for (auto piece = std::make_reverse_iterator(first); piece != free.rend(); ++piece) {
    if (released >= wanted || (*piece)->second.size < limit) break;
    if (segments_.at((*piece)->second.segment).expandable) continue;
    released += (*piece)->second.size;
    give_back(*piece);
  }
  return released >= wanted;
}

std::optional<Nanoseconds> ReferenceAllocator::release_all() {
  std::optional<Nanoseconds> last;
  if (routes_.empty()) {
    ++counts_.num_sync_all_streams;
    for (const auto& [address, uses] : deferred_) record(address, uses);
    deferred_.clear();
    while (!waiting_.empty()) complete(waiting_.front());
    for (auto& [stream, queue] : events_) {
      for (; !queue.empty(); queue.pop_front()) {
        last = std::max(last.value_or(queue.front().first), queue.front().first);
        done(queue.front().second);
      }
    }
    release_pool_memory({}, false);
    release_pool_memory({}, true);
  }
  for (const auto& [pool, options] : options_) {
    if (users_.at(pool) > 0) continue;
    release_pool_memory(pool, true);
    release_pool_memory(pool, false);
  }
  return last;
}

void ReferenceAllocator::release_pool_memory(PoolId pool, bool small) {
  std::set<Stream> streams;
  for (const auto& [id, segment] : segments_) streams.insert(segment.stream);
  std::vector<Address> expandable;
  std::vector<Pieces::iterator> whole;
  for (const Stream stream : streams) {
    for (const auto piece : free_pieces({pool, small, stream})) {
      if (segments_.at(piece->second.segment).expandable) {
        expandable.push_back(piece->first);
      } else if (alone(piece)) {
        whole.push_back(piece);
      }
    }
  }
  for (const auto piece : whole) give_back(piece);
  for (const Address address : expandable) take_pages(pieces_.find(address));
}

void ReferenceAllocator::give_back(Pieces::iterator piece) {
  memory_.release(piece->first, piece->second.size);
  segments_.erase(piece->second.segment);
  pieces_.erase(piece);
  ++counts_.num_device_free;
}

void ReferenceAllocator::take_pages(Pieces::iterator piece) {
  const Segment segment = segments_.at(piece->second.segment);
  const Bytes page = segment.small ? 2 * kMiB : configuration_.large_segment_size;
  const auto offset = static_cast<Bytes>(piece->first - segment.address);
  const Bytes begin = up(offset, page);
  const Bytes end = (offset + piece->second.size) / page * page;
  if (begin >= end) return;
  const Piece whole = piece->second;
  pieces_.erase(piece);
  Piece part = whole;
  part.age_base = searches(whole);
  if (begin > offset) {
    part.size = begin - offset;
    pieces_[at(segment.address, offset)] = part;
  }
  if (end < offset + whole.size) {
    part.size = offset + whole.size - end;
    pieces_[at(segment.address, end)] = part;
  }
  part.size = end - begin;
  part.what = What::kNoMemory;
  const auto taken = join(pieces_.insert({at(segment.address, begin), part}).first);
  memory_.unmap(end - begin);
  ++counts_.num_device_free;
  if (alone(taken)) {
    memory_.release_range(segment.address);
    segments_.erase(taken->second.segment);
    pieces_.erase(taken);
  }
}

AllocatorState ReferenceAllocator::state() const {
  AllocatorState state;
  std::optional<std::size_t> last;  // the segment of the piece before, where that has memory
  for (const auto& [address, piece] : pieces_) {
    const bool continues = last == piece.segment;
    last = piece.what == What::kNoMemory ? std::nullopt : std::optional(piece.segment);
    if (piece.what == What::kNoMemory) continue;
    const Segment& of = segments_.at(piece.segment);
    if (!continues) state.segments.push_back({address, 0, of.stream, of.small, of.pool, of.expandable, {}});
    SegmentRecord& segment = state.segments.back();
    segment.size += piece.size;
    const BlockStatus status = piece.what == What::kFree   ? BlockStatus::kInactive
                               : piece.what == What::kUsed ? BlockStatus::kAllocated
                                                           : BlockStatus::kPendingFree;
    segment.blocks.push_back({address, piece.size, piece.requested, status});
  }
  return state;
}

Statistics ReferenceAllocator::statistics() const {
  Statistics s = counts_;
  const auto add = [](PoolStat& stat, bool small, Bytes by) {
    stat.all.current += by;
    (small ? stat.small_pool : stat.large_pool).current += by;
  };
  std::map<std::size_t, std::size_t> pieces_of;
  for (const auto& [address, piece] : pieces_) ++pieces_of[piece.segment];
  for (const auto& [id, segment] : segments_) {
    if (segment.expandable) continue;
    add(s.segment, segment.small, 1);
    s.oversize_segments.current += segment.size >= configuration_.max_split_size ? 1 : 0;
  }
  for (const auto& [address, piece] : pieces_) {
    const Segment& segment = segments_.at(piece.segment);
    if (piece.what == What::kNoMemory) continue;
    add(s.reserved_bytes, segment.small, piece.size);
    if (piece.what == What::kFree) {
      if (segment.expandable || pieces_of.at(piece.segment) == 1) continue;
      add(s.inactive_split, segment.small, 1);
      add(s.inactive_split_bytes, segment.small, piece.size);
      continue;
    }
    add(s.active, segment.small, 1);
    add(s.active_bytes, segment.small, piece.size);
    add(s.requested_bytes, segment.small, piece.requested);
    if (piece.what == What::kPending) continue;
    add(s.allocation, segment.small, 1);
    add(s.allocated_bytes, segment.small, piece.size);
    s.oversize_allocations.current += piece.size >= configuration_.max_split_size ? 1 : 0;
  }
  return s;
}

}  // namespace interlace::allocator
