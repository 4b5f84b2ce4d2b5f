#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/cpu/adversary.hpp"
#include "engine/cpu/host_reads.hpp"
#include "engine/runtime/device.hpp"
#include "engine/runtime/progress.hpp"
#include "engine/runtime/range_observer.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine::cpu {

class CpuEvent : public EventState {
 public:
  bool done = false;
};

/// One rank's part in a collective: it waits at the head of the rank's queue until the parts of all ranks do.
class CpuPost {
 public:
  CpuPost() = default;
  CpuPost(const CpuPost&) = delete;
  CpuPost& operator=(const CpuPost&) = delete;
  CpuPost(CpuPost&&) = delete;
  CpuPost& operator=(CpuPost&&) = delete;
  virtual ~CpuPost() = default;

  /// Does the collective for all ranks at once; called on the part of rank 0. `posts`: by rank, this one too.
  virtual void carry_out(std::span<CpuPost* const> posts) = 0;
};

/// How the CPU backend runs.
struct CpuOptions {
  std::optional<std::uint64_t> seed;  ///< of the adversary; none: work runs as soon as it can, the same each time
  std::chrono::milliseconds stall_limit{25'000};  ///< a host or a piece of work that takes longer hangs
  RangeObserver* observer = nullptr;
  HostReads* remember = nullptr;  ///< gets what the hosts read; sized by the cluster
  /// What an earlier run of the same stages remembered. The hosts then know what they are about to read and do not wait
  /// for it, as one that has the lengths of a batch from its data loader; so their reads order nothing. What arrives
  /// later must be what was foreseen.
  const HostReads* foreseen = nullptr;
  /// Called, from another thread, where a rank hangs: nothing can stop its thread. Must not return.
  std::function<void(const Error&)> on_stall;
};

/// The CPU backend: a machine with one "GPU" a rank whose streams are queues.
///
/// Each rank has a host thread, but only one of all threads runs at any time: the one that holds the baton. At every
/// call into a device it asks the adversary who goes on: the head of some queue, which then runs right here, this host,
/// or another host, to whom the baton goes. So a run is a sequence of choices that its seed decides: every run can be
/// repeated, whatever the ranks do, and where nobody can go on the ranks are in a deadlock, which is seen at once.
///
/// A queue can go on when its head is work, a wait for an event that is over, or a part in a collective for which all
/// ranks wait. Waits and records cost no choice: they happen as soon as they can, which forbids no order of the work.
///
/// Work keeps to the order that streams and events give it and to nothing else: it reads and writes memory when it
/// runs, so a missing wait reads what is not there yet.
class CpuCluster {
 public:
  CpuCluster(int ranks, CpuOptions options);

  /// Runs host(rank) on a thread each and returns when all have ended and all queues are empty. Throws the first
  /// failure, of a host or of its work, as an Error that names rank, stage and batch; the other ranks are ended.
  void run(const std::function<void(int)>& host);

  [[nodiscard]] int ranks() const { return static_cast<int>(hosts_.size()); }

  // For CpuDevice, whose host holds the baton.
  using QueueIndex = std::size_t;
  [[nodiscard]] QueueIndex add_queue(int rank);
  /// Drops what is left in the queues of a rank, whose memory is about to go.
  void close_queues(int rank);
  /// The queue takes part in the collectives of group `group`, once a rank.
  void join(std::size_t group, int rank, QueueIndex queue);
  void push_work(QueueIndex queue, Work work);
  void push_wait(QueueIndex queue, std::shared_ptr<CpuEvent> event);
  void push_record(QueueIndex queue, std::shared_ptr<CpuEvent> event);
  void push_post(QueueIndex queue, std::size_t group, std::unique_ptr<CpuPost> post);
  /// Lets others go on; returns when `rank` may.
  void yield(int rank);
  /// The same, and not before the event is over.
  void block(int rank, const std::shared_ptr<CpuEvent>& event);
  [[nodiscard]] const CpuOptions& options() const { return options_; }
  void enter(int rank, const std::string& range);
  void leave(int rank) noexcept;

 private:
  struct RunWork {
    Work work;
    std::string range;
  };
  struct Await {
    std::shared_ptr<CpuEvent> event;
  };
  struct Record {
    std::shared_ptr<CpuEvent> event;
  };
  struct Meet {
    std::size_t group = 0;
    std::unique_ptr<CpuPost> post;
    std::string range;
  };
  using Item = std::variant<RunWork, Await, Record, Meet>;
  struct Queue {
    int rank = 0;
    std::deque<Item> items;
  };
  struct Host {
    Progress progress;
    std::shared_ptr<CpuEvent> waits_for;
    bool ended = false;
    std::condition_variable turn;
  };
  struct Group {
    std::vector<std::optional<QueueIndex>> queues;  ///< by rank
  };
  struct Aborted {};  ///< thrown through a host because another one failed

  void serve(int rank, const std::function<void(int)>& host);
  bool run_others_until(int rank);
  [[nodiscard]] std::vector<std::size_t> ready_actors() const;
  [[nodiscard]] bool is_ready(const Queue& queue) const;
  [[nodiscard]] bool all_meet(std::size_t group) const;
  void settle();
  bool settle(Queue& queue);
  void run_head(QueueIndex index);
  void carry_out(std::size_t group);
  void fail(int rank, const std::exception_ptr& failure);
  void fail_in(int rank, const std::string& range, const std::exception_ptr& failure);
  void fail_by_deadlock();
  void hand_over(int rank);
  void wait_for_turn(int rank);
  void watch();
  [[nodiscard]] std::string range_of(int rank) const;

  CpuOptions options_;
  Adversary adversary_;
  std::vector<Host> hosts_;
  std::deque<Queue> queues_;
  std::vector<Group> groups_;
  std::optional<Error> failure_;

  std::mutex mutex_;  ///< of what follows; all else belongs to whoever holds the baton
  int holder_ = 0;
  int running_ = 0;
  std::string holder_place_;
  std::condition_variable all_ended_;
  std::atomic<std::uint64_t> moves_ = 0;  ///< choices made and ranges entered: what the watch sees
};

}  // namespace interlace::engine::cpu
