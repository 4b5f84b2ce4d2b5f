#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/job/job_store.hpp"
#include "engine/runtime/progress.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kRankLost{"engine.rank_lost"};

/// How long ranks may be silent.
struct WatchLimits {
  std::chrono::milliseconds stall{25'000};  ///< a host that enters no range for so long hangs
  std::chrono::milliseconds lost{10'000};   ///< a process, or the store, that is silent for so long is gone
  std::chrono::milliseconds beat{200};      ///< between two looks
};

/// What is done when the job has failed, once and from any thread.
struct OnFailure {
  std::function<void(const Error&)> tell;  ///< in the one process that is to tell it
  std::function<void()> end;               ///< in all, last: it must end the process
};

/// Ends a rank's process in time when something goes wrong anywhere in its job. A thread of its own looks whether this
/// rank goes on, tells the others that its process lives and where it stands, and sees whether the next rank does that,
/// so that among them all are seen at a cost that grows with their number only. Of all failures of a job the first is
/// the one that is told, once.
///
/// The host itself cannot do that: it may be inside a collective that waits for a rank that is gone. That thread may be
/// inside a call of the store for good, where the store's process has frozen or the network is gone; so a second one,
/// which touches no socket, sees whether the first comes back. Then, as where the store is gone, which alone can say
/// who is the first to fail, each process that is left tells of it.
class Watch {
 public:
  /// store: is not held by this object. Throws engine.job_store where it cannot be reached.
  Watch(const StorePlace& store, int rank, int ranks, const Progress& progress, const WatchLimits& limits,
        OnFailure on_failure);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Watch(Watch&&) = delete;
  Watch& operator=(Watch&&) = delete;
  /// This rank is through: nobody waits for signs of its life any more.
  ~Watch();

  /// why: gives the reason why this rank does not go on, where it knows one. Asked from another thread, when the rank
  /// has not for as long as may be. Empty: nobody is asked; who was, is not any more when this returns.
  void ask_of_stalls(std::function<std::optional<Error>()> why);

  /// This rank has failed. Does not return.
  [[noreturn]] void fail(const Error& error);

 private:
  struct Beat {
    std::string last;  ///< where the rank stood, with a count
    std::chrono::steady_clock::time_point since;
    std::string place;
  };

  void watch();
  void guard();
  void look();
  void look_at_this_rank();
  [[nodiscard]] std::optional<Error> reason_of_stall(const std::string& place);
  void look_at_others();
  [[nodiscard]] bool sees_through(int rank);
  [[nodiscard]] Error store_lost(const std::string& how);
  void fail_job(const Error& error);
  void end(const std::optional<Error>& error);

  JobStore store_;
  bool of_rank_0_;  ///< rank 0 holds the store
  int rank_;
  int ranks_;
  int next_;  ///< whom this rank watches
  const Progress* progress_;
  WatchLimits limits_;
  OnFailure on_failure_;
  std::once_flag ended_;
  std::map<int, Beat> beats_;  ///< by rank, of those that this one looks at
  std::uint64_t count_ = 0;
  std::uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point went_on_;

  std::mutex why_mutex_;  ///< held while it is asked
  std::function<std::optional<Error>()> why_;

  std::mutex mutex_;  ///< of what follows; never held over a call of the store
  std::condition_variable wakes_;
  bool stops_ = false;            ///< the rank is through
  bool stopped_ = false;          ///< and the store knows
  std::optional<Error> failure_;  ///< of this rank
  std::uint64_t looks_ = 0;       ///< that have come back from the store
  std::string place_of_rank_0_;   ///< where it stood last
  std::thread watcher_;
  std::thread guard_;
};

/// The key that the first failure of a job claims.
inline constexpr const char* kFailureKey = "failure";

}  // namespace interlace::engine
