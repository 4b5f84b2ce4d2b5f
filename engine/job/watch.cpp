#include "engine/job/watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "engine/runtime/failure.hpp"

namespace interlace::engine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kThrough = "through";
constexpr int kBeatsToBeSeen = 5;  // in which every rank has looked once

std::string beat_key(int rank) { return "beat/" + std::to_string(rank); }

std::string seconds(std::chrono::milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

}  // namespace

Watch::Watch(const StorePlace& store, int rank, int ranks, const Progress& progress, const WatchLimits& limits,
             OnFailure on_failure)
    : store_(store),
      of_rank_0_(store.of_rank_0),
      rank_(rank),
      ranks_(ranks),
      next_((rank + 1) % ranks),
      progress_(&progress),
      limits_(limits),
      on_failure_(std::move(on_failure)),
      went_on_(Clock::now()),
      watcher_([this] { watch(); }),
      guard_([this] { guard(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wakes_.notify_all();
  watcher_.join();
  guard_.join();
}

void Watch::ask_of_stalls(std::function<std::optional<Error>()> why) {
  const std::lock_guard lock(why_mutex_);
  why_ = std::move(why);
}

void Watch::fail(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = error;
  }
  wakes_.notify_all();
  watcher_.join();
  std::abort();  // the process should have ended
}

// The only thread that calls the store.
void Watch::watch() {
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, limits_.beat, [this] { return stops_ || failure_; })) {
    lock.unlock();
    look();
    lock.lock();
    ++looks_;
  }
  const std::optional<Error> failure = failure_;
  lock.unlock();
  if (failure) return fail_job(*failure);
  try {
    store_.put(beat_key(rank_), kThrough);
  } catch (const Error&) {
    // The store goes with the process that is through last; nobody is left to be told.
  }
  lock.lock();
  stopped_ = true;
  wakes_.notify_all();
}

// Counts beats, not time: a process that was stopped for a while has not waited for its store.
void Watch::guard() {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  std::chrono::milliseconds silent{0};
  while (!wakes_.wait_for(lock, limits_.beat, [this] { return stopped_; })) {
    silent = looks_ == seen ? silent + limits_.beat : std::chrono::milliseconds{0};
    seen = looks_;
    if (silent <= limits_.lost) continue;
    const std::optional<Error> failure = failure_;
    lock.unlock();
    return end(failure.value_or(store_lost("has given no sign of life for " + seconds(limits_.lost))));
  }
}

void Watch::look() {
  try {
    if (store_.has(kFailureKey)) return end(std::nullopt);
    look_at_this_rank();
    look_at_others();
  } catch (const Error&) {
    end(store_lost("is gone"));
  }
}

void Watch::look_at_this_rank() {
  if (const std::uint64_t steps = progress_->steps(); steps != steps_) {
    steps_ = steps;
    went_on_ = Clock::now();
  }
  const std::string place = progress_->place();
  store_.put(beat_key(rank_), std::to_string(++count_) + ' ' + place);
  const Clock::duration idle = Clock::now() - went_on_;
  if (idle <= limits_.stall) return;
  if (const std::optional<Error> reason = reason_of_stall(place)) return fail_job(*reason);
  // All ranks may hang for what one of them knows the reason of: that one is to be the first.
  if (idle <= limits_.stall + kBeatsToBeSeen * limits_.beat) return;
  fail_job(Error(kStalled, place_of(rank_, place), "has not gone on for " + seconds(limits_.stall),
                 "all ranks are ended; --stall-limit allows longer"));
}

std::optional<Error> Watch::reason_of_stall(const std::string& place) {
  const std::lock_guard lock(why_mutex_);
  const std::optional<Error> reason = why_ ? why_() : std::nullopt;
  if (!reason) return std::nullopt;
  return placed(std::make_exception_ptr(*reason), place_of(rank_, place));
}

// At the next that is not through; and at rank 0 where the store goes with it, as nobody can be asked then where it
// was.
void Watch::look_at_others() {
  while (next_ != rank_ && sees_through(next_)) next_ = (next_ + 1) % ranks_;
  if (of_rank_0_ && rank_ != 0 && next_ != 0) static_cast<void>(sees_through(0));
}

bool Watch::sees_through(int rank) {
  const std::string key = beat_key(rank);
  Beat& beat = beats_[rank];
  if (beat.last.empty() && !store_.has(key)) return false;
  const std::string now = store_.get(key);
  if (now != beat.last) {
    beat = {.last = now, .since = Clock::now(), .place = now.substr(std::min(now.size(), now.find(' ') + 1))};
  } else if (Clock::now() - beat.since > limits_.lost) {
    fail_job(Error(kRankLost, place_of(rank, beat.place), "has given no sign of life for " + seconds(limits_.lost),
                   "see the log of that rank's machine: its process is gone"));
  }
  if (rank == 0) {
    const std::lock_guard lock(mutex_);
    place_of_rank_0_ = beat.place;
  }
  return now == kThrough;
}

Error Watch::store_lost(const std::string& how) {
  if (of_rank_0_ && rank_ != 0) {
    const std::lock_guard lock(mutex_);
    return {kRankLost, place_of(0, place_of_rank_0_), how + ", and with it the store of the job",
            "see the log of that rank's machine"};
  }
  return {kRankLost, place_of(rank_, progress_->place()), "the store of the job " + how,
          "see whether the launcher, which holds it, still runs"};
}

// Claims the failure of the job for this process. Where another was first, that one tells its own.
void Watch::fail_job(const Error& error) {
  bool first = true;
  try {
    first = store_.claim(kFailureKey, error.what());
  } catch (const Error&) {
    // The store is gone: whoever else is left finds out by himself.
  }
  end(first ? std::optional(error) : std::nullopt);
}

void Watch::end(const std::optional<Error>& error) {
  std::call_once(ended_, [&] {
    if (error) on_failure_.tell(*error);
    // The store goes with this process: the others shall first see there that the job has failed.
    if (of_rank_0_ && rank_ == 0 && ranks_ > 1) std::this_thread::sleep_for(kBeatsToBeSeen * limits_.beat);
    on_failure_.end();
  });
}

}  // namespace interlace::engine
