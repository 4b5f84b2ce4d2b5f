#include "engine/cpu/cluster.hpp"

#include <algorithm>
#include <cassert>
#include <thread>
#include <utility>

#include "engine/runtime/failure.hpp"

namespace interlace::engine::cpu {

CpuCluster::CpuCluster(int ranks, CpuOptions options)
    : options_(std::move(options)), adversary_(options_.seed), hosts_(static_cast<std::size_t>(ranks)) {
  if (options_.remember != nullptr) options_.remember->assign(hosts_.size(), {});
}

void CpuCluster::run(const std::function<void(int)>& host) {
  running_ = ranks();
  std::vector<std::thread> threads;
  threads.reserve(hosts_.size());
  for (int rank = 0; rank < ranks(); ++rank) threads.emplace_back([this, rank, &host] { serve(rank, host); });
  watch();
  for (std::thread& thread : threads) thread.join();
  if (failure_) throw Error(*failure_);
}

// The life of a host's thread.
void CpuCluster::serve(int rank, const std::function<void(int)>& host) {
  wait_for_turn(rank);
  try {
    if (!failure_) host(rank);
  } catch (const Aborted&) {
  } catch (...) {
    fail(rank, std::current_exception());
  }
  hosts_[static_cast<std::size_t>(rank)].ended = true;
  while (run_others_until(rank)) {
  }
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) all_ended_.notify_all();
}

// Makes choices until one falls on a host. True where that host is not `rank` but has been given the baton and it has
// come back, so that choices go on; false where `rank` goes on, or has ended and the baton has gone for good.
bool CpuCluster::run_others_until(int rank) {
  const bool ended = hosts_[static_cast<std::size_t>(rank)].ended;
  const std::vector<std::size_t> ready = ready_actors();
  moves_.fetch_add(1, std::memory_order_relaxed);
  if (ready.empty()) {
    const bool all_ended = std::ranges::all_of(hosts_, &Host::ended);
    if (all_ended) return false;
    fail_by_deadlock();
    return true;
  }
  const std::size_t actor = adversary_.pick(ready);
  if (actor >= hosts_.size()) {
    run_head(actor - hosts_.size());
    return true;
  }
  if (static_cast<int>(actor) == rank) return false;
  hand_over(static_cast<int>(actor));
  if (ended) return false;
  wait_for_turn(rank);
  return true;
}

void CpuCluster::yield(int rank) {
  if (failure_) throw Aborted{};
  while (run_others_until(rank)) {
    if (failure_) throw Aborted{};
  }
}

void CpuCluster::block(int rank, const std::shared_ptr<CpuEvent>& event) {
  Host& host = hosts_[static_cast<std::size_t>(rank)];
  host.waits_for = event;
  yield(rank);
  host.waits_for.reset();
}

// Actors: hosts first, then queues. Without an adversary the first of them goes on, so queues must come first there.
std::vector<std::size_t> CpuCluster::ready_actors() const {
  std::vector<std::size_t> ready;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    const Host& host = hosts_[rank];
    if (!host.ended && (failure_ || !host.waits_for || host.waits_for->done)) ready.push_back(rank);
  }
  if (failure_) return ready;
  const std::size_t ready_hosts = ready.size();
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    if (is_ready(queues_[queue])) ready.push_back(hosts_.size() + queue);
  }
  if (!options_.seed && ready.size() > ready_hosts) {
    ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(ready_hosts));
  }
  return ready;
}

bool CpuCluster::is_ready(const Queue& queue) const {
  if (queue.items.empty()) return false;
  const Item& head = queue.items.front();
  if (const auto* meet = std::get_if<Meet>(&head)) return queue.rank == 0 && all_meet(meet->group);
  return std::holds_alternative<RunWork>(head);
}

bool CpuCluster::all_meet(std::size_t group) const {
  return std::ranges::all_of(groups_[group].queues, [&](const std::optional<QueueIndex>& queue) {
    if (!queue || queues_[*queue].items.empty()) return false;
    return std::holds_alternative<Meet>(queues_[*queue].items.front());
  });
}

// Lets waits and records happen until none can.
void CpuCluster::settle() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Queue& queue : queues_) changed = settle(queue) || changed;
  }
}

bool CpuCluster::settle(Queue& queue) {
  bool recorded = false;
  while (!queue.items.empty()) {
    Item& head = queue.items.front();
    if (auto* record = std::get_if<Record>(&head)) {
      record->event->done = true;
      recorded = true;
    } else if (const auto* await = std::get_if<Await>(&head); !await || !await->event->done) {
      break;
    }
    queue.items.pop_front();
  }
  return recorded;
}

void CpuCluster::run_head(QueueIndex index) {
  Queue& queue = queues_[index];
  if (const auto* meet = std::get_if<Meet>(&queue.items.front())) {
    carry_out(meet->group);
  } else {
    const RunWork item = std::move(std::get<RunWork>(queue.items.front()));
    queue.items.pop_front();
    try {
      item.work(nullptr);
    } catch (...) {
      fail_in(queue.rank, item.range, std::current_exception());
    }
  }
  settle();
}

void CpuCluster::carry_out(std::size_t group) {
  std::vector<Meet> parts;
  std::vector<CpuPost*> posts;
  for (const std::optional<QueueIndex>& index : groups_[group].queues) {
    std::deque<Item>& items = queues_[*index].items;
    parts.push_back(std::move(std::get<Meet>(items.front())));
    items.pop_front();
    posts.push_back(parts.back().post.get());
  }
  try {
    posts.front()->carry_out(posts);
  } catch (...) {
    fail_in(0, parts.front().range, std::current_exception());
  }
}

void CpuCluster::fail(int rank, const std::exception_ptr& failure) { fail_in(rank, range_of(rank), failure); }

void CpuCluster::fail_in(int rank, const std::string& range, const std::exception_ptr& failure) {
  if (!failure_) failure_ = placed(failure, place_of(rank, range));
}

void CpuCluster::fail_by_deadlock() {
  std::string places;
  int first = -1;
  for (int rank = 0; rank < ranks(); ++rank) {
    const bool ended = hosts_[static_cast<std::size_t>(rank)].ended;
    if (!ended && first < 0) first = rank;
    if (!places.empty()) places += "; ";
    places += ended ? place_of(rank, "at its end") : place_of(rank, range_of(rank));
  }
  assert(first >= 0);
  failure_ = Error(kDeadlock, place_of(first, range_of(first)), "waits for what no rank does (" + places + ")",
                   "let all ranks run the same schedule over the same number of batches");
}

CpuCluster::QueueIndex CpuCluster::add_queue(int rank) {
  queues_.emplace_back().rank = rank;
  return queues_.size() - 1;
}

void CpuCluster::close_queues(int rank) {
  for (Queue& queue : queues_) {
    if (queue.rank == rank) queue.items.clear();
  }
}

void CpuCluster::join(std::size_t group, int rank, QueueIndex queue) {
  if (groups_.size() <= group) groups_.resize(group + 1);
  groups_[group].queues.resize(hosts_.size());
  groups_[group].queues[static_cast<std::size_t>(rank)] = queue;
}

void CpuCluster::push_work(QueueIndex queue, Work work) {
  queues_[queue].items.emplace_back(RunWork{std::move(work), range_of(queues_[queue].rank)});
}

void CpuCluster::push_wait(QueueIndex queue, std::shared_ptr<CpuEvent> event) {
  queues_[queue].items.emplace_back(Await{std::move(event)});
  settle();
}

void CpuCluster::push_record(QueueIndex queue, std::shared_ptr<CpuEvent> event) {
  queues_[queue].items.emplace_back(Record{std::move(event)});
  settle();
}

void CpuCluster::push_post(QueueIndex queue, std::size_t group, std::unique_ptr<CpuPost> post) {
  queues_[queue].items.emplace_back(Meet{group, std::move(post), range_of(queues_[queue].rank)});
}

void CpuCluster::enter(int rank, const std::string& range) {
  hosts_[static_cast<std::size_t>(rank)].progress.entered(range);
  moves_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    holder_place_ = place_of(rank, range_of(rank));
  }
  if (options_.observer != nullptr) options_.observer->entered(rank, range);
}

void CpuCluster::leave(int rank) noexcept {
  if (options_.observer != nullptr) options_.observer->left(rank);
  hosts_[static_cast<std::size_t>(rank)].progress.left();
}

std::string CpuCluster::range_of(int rank) const { return hosts_[static_cast<std::size_t>(rank)].progress.place(); }

void CpuCluster::hand_over(int rank) {
  const std::lock_guard lock(mutex_);
  holder_ = rank;
  holder_place_ = place_of(rank, range_of(rank));
  hosts_[static_cast<std::size_t>(rank)].turn.notify_one();
}

void CpuCluster::wait_for_turn(int rank) {
  std::unique_lock lock(mutex_);
  hosts_[static_cast<std::size_t>(rank)].turn.wait(lock, [&] { return holder_ == rank; });
}

// Returns when all hosts have ended; tells on_stall where no choice was made, and no range entered, for too long.
void CpuCluster::watch() {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = moves_;
  auto since = std::chrono::steady_clock::now();
  while (running_ > 0) {
    all_ended_.wait_for(lock, std::chrono::milliseconds(50));
    const auto now = std::chrono::steady_clock::now();
    if (const std::uint64_t moves = moves_; moves != seen) {
      seen = moves;
      since = now;
    } else if (running_ > 0 && options_.on_stall && now - since > options_.stall_limit) {
      options_.on_stall(Error(kStalled, holder_place_,
                              "has not gone on for " + std::to_string(options_.stall_limit.count() / 1000) + " s",
                              "all ranks are ended"));
    }
  }
}

}  // namespace interlace::engine::cpu
