#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/base/id.hpp"
#include "simulator/base/units.hpp"
#include "simulator/contention/gpu.hpp"
#include "simulator/replay/fetch_delays.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/race_odds.hpp"

namespace interlace::replay {

using WorkId = Id<struct SimulatedWorkTag>;
using TokenId = Id<struct TokenTag>;

/// What is drawn for the races of a collective in one iteration: a kernel that is ready with it starts first where
/// this, from 0 to 1, is less than the odds.
struct RaceDraw {
  bool as_recorded = false;  ///< it does instead what it did in the recorded step, on all ranks, where that shows it
  double luck = 0;           ///< on all ranks, behind a collective, where ranks mostly agree
  double own_luck = 0;       ///< on this rank, behind a kernel, where they agree by chance only
};

/// Work as a simulated host put it on a stream.
struct Work {
  std::optional<trace::OperationId> recorded;  ///< what it is a copy of; none where an edit invented it
  SiteId site;
  WorkKind kind = WorkKind::kKernel;
  std::uint32_t rank = 0;
  StreamIndex stream;
  std::int32_t iteration = 0;
  std::int32_t batch = 0;   ///< absolute
  std::uint32_t label = 0;  ///< stage label of the plan
  double called_ns = 0;     ///< start of the launch call
  std::size_t call = 0;     ///< number of that call among all simulated ones
  double dispatch_gap_ns = 0;
  contention::ActiveWork active;
  double crowded_rate = 1.0;             ///< collectives: progress while kernels run beside it on any rank
  std::optional<StreamIndex> issued_on;  ///< collectives: the stream that it waits for
  const RaceOdds* races = nullptr;       ///< collectives: of their site
  CopyEngine engine = CopyEngine::kNone;
  bool in_graph = false;               ///< its command comes with those of a CUDA graph
  std::optional<RaceDraw> draw;        ///< collectives; none: what is ready with one always starts first
  std::optional<Delays> usual_delays;  ///< as `delays`, where the recording shows it
  Delays delays;                       ///< as it started; waits: those not over when made
  std::optional<bool> lets_pass;       ///< whether it does, once the collective has met one
  TokenId done;
  std::optional<double> start_ns;
  std::optional<double> arrival_ns;  ///< collectives: when the last rank was there
  std::optional<double> end_ns;
  std::optional<double> ready_ns;  ///< when it could have started but for other kernels
  std::uint32_t communicator = 0;  ///< collectives: of which
  std::uint32_t parties = 0;       ///< ranks in it; 0: all
  std::optional<std::uint32_t> group;
};

struct MachineOptions {
  double launch_latency_ns = 9'000;  ///< from the start of a launch call to the work on an idle stream
  double wait_latency_ns = 1'500;    ///< from the end of what a stream waited for to its next work
  FetchDelays fetch_delays;
  bool collectives_cross_host = false;  ///< collectives and host copies share PCIe and host memory
  double host_copy_rate = 1.0;          ///< of a host copy beside such a collective
  double lost_to_host_copies = contention::kLostToHostCopies;  ///< part of its pace that such a collective loses
  bool contention = true;                                      ///< false: everything takes its recorded-alone time
};

/// The devices of all ranks: streams in first-in first-out order, events, collectives that meet, and the sharing of
/// each GPU. Time advances in steps to the next thing that can change.
class Machine {
 public:
  Machine(std::size_t ranks, const std::vector<SimulatedStream>& streams, std::int32_t sm_count,
          const MachineOptions& options);

  /// Room for so many works: with more, all are moved.
  void reserve(std::size_t works);
  WorkId launch(Work work);
  /// A token that is done when all queued so far on the stream is.
  TokenId record(std::uint32_t rank, StreamIndex stream);
  void wait(std::uint32_t rank, StreamIndex stream, TokenId token);
  /// When it was done; none while it is not.
  [[nodiscard]] std::optional<double> done_at(TokenId token) const { return tokens_[token.index()].done_ns; }

  /// The next time at which something on a device changes by itself, as settle() left it; none where nothing runs or is
  /// about to.
  [[nodiscard]] std::optional<double> next_change() const;
  /// Moves the clock and carries out all that happens by then. REQUIRES: now <= to, and to <= next_change() if any.
  void advance(double to_ns);
  /// Starts and completes whatever can be at the present time, on the GPUs to which something came or is due.
  void settle();

  [[nodiscard]] const std::vector<Work>& works() const { return works_; }
  [[nodiscard]] std::vector<Work> take_works() && { return std::move(works_); }
  /// Those that have started, in that order.
  [[nodiscard]] std::vector<WorkId> take_started() && { return std::move(started_); }

 private:
  struct Entry {
    enum class Kind : std::uint8_t { kWork, kRecord, kWait } kind = Kind::kWork;
    std::uint32_t id = 0;
    bool was_over = false;  ///< a wait for what had ended before the host made it
  };
  struct Token {
    std::optional<double> done_ns;
    double on_its_way_ns = 0;  ///< that the host does not see it done: a record of an idle stream has to get there
  };
  struct Stream {
    std::deque<Entry> queue;
    std::optional<WorkId> running;
    double last_end_ns = -1e18;
    double waited_until_ns = -1e18;    ///< when the last wait in front of the head was satisfied
    int waits = 0;                     ///< passed in front of the head
    double fetch_delay_ns = 0;         ///< of the next kernel, where it was queued before the last work ended
    double with_main = kUnknownQueue;  ///< how often its commands come through the queue of the main stream's
    std::int32_t priority = 0;
    bool of_collectives = false;
  };
  struct Gpu {
    std::vector<Stream> streams;
    std::vector<WorkId> running;                  ///< in order of start
    std::vector<contention::ActiveWork*> active;  ///< the same works, as the model of sharing sees them
    /// Collectives of a communicator meet in the order in which each rank issues them.
    std::map<std::uint32_t, std::uint32_t> issued;
    bool placing = false;   ///< a collective has CTAs left to place
    bool blocked = false;   ///< a head waits for other kernels to be dispatched
    bool held = false;      ///< a head waits for anything but its time
    bool unsettled = true;  ///< something has come to it since it was settled
    bool stale = true;      ///< its rates and its next change have to be reckoned
    bool drifts = true;     ///< what it does also depends on how far its works are
    double next_ns = 0;     ///< when something on it changes by itself
  };
  struct Group {
    std::size_t parties = 0;
    std::vector<WorkId> members;
    bool complete = false;
    double rate = 1.0;  ///< of the slowest member
  };

  bool step_stream(Gpu& gpu, Stream& stream);
  /// Times no farther apart are one.
  [[nodiscard]] double instant_ns() const;
  /// Has it unfinished work that the device fetches commands for?
  [[nodiscard]] bool is_fetched(const Stream& stream) const;
  /// By how much other streams delay the next kernel of this one.
  [[nodiscard]] double fetch_delay_ns(const Gpu& gpu, const Stream& stream) const;
  /// When a stream takes up what stands behind its last wait.
  [[nodiscard]] double resumes_at(const Stream& stream) const;
  /// When the work at the head of a stream could start but for other kernels.
  [[nodiscard]] double ready_at(const Stream& stream, const Work& head) const;
  bool try_start(Gpu& gpu, Stream& stream, Work& work, WorkId id);
  /// What delays a work at the head of its stream, or did as it started.
  [[nodiscard]] Delays delays(const Work& work) const;
  /// Does the collective at the head of a stream let the kernel start first?
  bool lets_pass(const Stream& stream, Work& collective, const Work& kernel) const;
  /// Is a collective about to be ready for which this kernel, which is, waits?
  bool collective_passes(const Gpu& gpu, const Work& kernel);
  /// Is a kernel, or what stands behind a short one, about to start for which a collective waits that is ready?
  bool kernel_passes(const Gpu& gpu, Work& collective, double ready);
  /// Does anything happen on it now, or may it?
  [[nodiscard]] bool is_due(const Gpu& gpu) const;
  void settle(Gpu& gpu);
  [[nodiscard]] double next_change(const Gpu& gpu) const;
  bool complete_finished(Gpu& gpu);
  bool dispatch(Gpu& gpu);
  void finish(Gpu& gpu, WorkId id);
  void add(Work&& work);
  void set_rates();
  [[nodiscard]] bool engine_runs(const Gpu& gpu, CopyEngine engine) const;
  /// Whether the engine of a copy has another to do first: one that runs, or that was ready before.
  [[nodiscard]] bool engine_is_taken(const Gpu& gpu, const Work& copy, double ready);
  /// Of copies that run while one in the other direction does.
  [[nodiscard]] double pace_of_copies(const Gpu& gpu) const;
  void slow_copies(const Gpu& gpu);
  void share_host_path();
  template <class Visit>
  void for_each_collective(Visit visit);
  [[nodiscard]] bool finished(const Work& work) const;

  std::vector<Gpu> gpus_;
  std::vector<Work> works_;
  std::vector<WorkId> started_;
  std::vector<Token> tokens_;
  std::vector<Group> groups_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> group_of_;  ///< by communicator and number in it
  std::vector<WorkId> collectives_;                                            ///< that run, on any GPU
  std::int32_t sm_count_;
  MachineOptions options_;
  double now_ns_ = 0;
};

}  // namespace interlace::replay
