#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/job/job_store.hpp"
#include "engine/runtime/progress.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kRankLost{"engine.rank_lost"};

/// How long ranks may be silent.
struct WatchLimits {
  std::chrono::milliseconds stall{25'000};  ///< a host that enters no range for so long hangs
  std::chrono::milliseconds lost{10'000};   ///< a process that gives no sign of life for so long is gone
  std::chrono::milliseconds beat{200};      ///< between two looks
};

/// Ends a rank's process in time when something goes wrong anywhere in its job. A thread of its own looks whether this
/// rank goes on, tells the others that its process lives and where it stands, and sees whether theirs do. Of all
/// failures of a job the first is the one that is told, once.
///
/// The host itself cannot do that: it may be inside a collective that waits for a rank that is gone.
class Watch {
 public:
  /// ends: called, at most once and from any thread, when the job has failed: with the failure, in the one process that
  /// is to tell it; with none in the others. It must end the process.
  using Ends = std::function<void(const std::optional<Error>&)>;

  Watch(const StorePlace& store, int rank, int ranks, const Progress& progress, const WatchLimits& limits, Ends ends);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Watch(Watch&&) = delete;
  Watch& operator=(Watch&&) = delete;
  /// This rank is through: nobody waits for signs of its life any more.
  ~Watch();

  /// This rank has failed. Does not return.
  [[noreturn]] void fail(const Error& error);

 private:
  struct Beat {
    std::string last;  ///< where the rank stood, with a count
    std::chrono::steady_clock::time_point since;
    std::string place;
    bool through = false;
  };

  void look();
  void look_at_this_rank();
  void look_at_others();
  void end(const Error& error);

  JobStore store_;
  int rank_;
  const Progress* progress_;
  WatchLimits limits_;
  Ends ends_;
  std::vector<Beat> beats_;  ///< by rank
  std::uint64_t count_ = 0;
  std::uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point went_on_;

  std::mutex mutex_;  ///< of the store and of what follows
  std::condition_variable wakes_;
  bool stops_ = false;
  std::thread thread_;
};

/// The key that the first failure of a job claims.
inline constexpr const char* kFailureKey = "failure";

}  // namespace interlace::engine
