#include "engine/job/watch.hpp"

#include <cstdlib>
#include <utility>

#include "engine/runtime/failure.hpp"

namespace interlace::engine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kThrough = "through";

std::string beat_key(int rank) { return "beat/" + std::to_string(rank); }

std::string seconds(std::chrono::milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

}  // namespace

Watch::Watch(const StorePlace& store, int rank, int ranks, const Progress& progress, const WatchLimits& limits,
             Ends ends)
    : store_(store),
      rank_(rank),
      progress_(&progress),
      limits_(limits),
      ends_(std::move(ends)),
      beats_(static_cast<std::size_t>(ranks)),
      went_on_(Clock::now()) {
  for (Beat& beat : beats_) beat.since = Clock::now();
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!wakes_.wait_for(lock, limits_.beat, [this] { return stops_; })) look();
  });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wakes_.notify_all();
  thread_.join();
  try {
    store_.put(beat_key(rank_), kThrough);
  } catch (const Error&) {
    // The store goes with the process that is through last; nobody is left to be told.
  }
}

void Watch::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  end(error);
  std::abort();  // ends_ has come back
}

// Claims the failure of the job for this process. Where another was first, that one tells its own.
void Watch::end(const Error& error) {
  bool first = true;
  try {
    first = store_.claim(kFailureKey, error.what());
  } catch (const Error&) {
    // The store is gone: whoever else is left finds out by himself.
  }
  ends_(first ? std::optional(error) : std::nullopt);
}

void Watch::look() {
  try {
    if (store_.has(kFailureKey)) return ends_(std::nullopt);
    look_at_this_rank();
    look_at_others();
  } catch (const Error& error) {
    end(Error(kRankLost, place_of(rank_, progress_->place()), error.problem(), error.advice()));
  }
}

void Watch::look_at_this_rank() {
  if (const std::uint64_t steps = progress_->steps(); steps != steps_) {
    steps_ = steps;
    went_on_ = Clock::now();
  }
  const std::string place = progress_->place();
  store_.put(beat_key(rank_), std::to_string(++count_) + ' ' + place);
  if (Clock::now() - went_on_ > limits_.stall) {
    end(Error(kStalled, place_of(rank_, place), "has not gone on for " + seconds(limits_.stall),
              "all ranks are ended"));
  }
}

void Watch::look_at_others() {
  for (int rank = 0; rank < static_cast<int>(beats_.size()); ++rank) {
    Beat& beat = beats_[static_cast<std::size_t>(rank)];
    if (rank == rank_ || beat.through) continue;
    const std::string key = beat_key(rank);
    const std::string now = store_.has(key) ? store_.get(key) : "";
    beat.through = now == kThrough;
    if (now != beat.last) {
      beat.last = now;
      beat.since = Clock::now();
      beat.place = now.substr(std::min(now.size(), now.find(' ') + 1));
    } else if (!now.empty() && Clock::now() - beat.since > limits_.lost) {
      end(Error(kRankLost, place_of(rank, beat.place), "has given no sign of life for " + seconds(limits_.lost),
                "see the log of that rank's machine: its process is gone"));
    }
  }
}

}  // namespace interlace::engine
