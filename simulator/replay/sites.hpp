#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/id.hpp"
#include "simulator/contention/kernel_shape.hpp"
#include "simulator/contention/machine_profile.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/replay/communicators.hpp"
#include "simulator/replay/fetch_delays.hpp"
#include "simulator/replay/host_disturbance.hpp"
#include "simulator/replay/race_odds.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// What kind of resource a piece of device work needs.
enum class WorkKind : std::uint8_t {
  kKernel,
  kCollective,
  kHostCopy,  ///< between host and device memory
  kDeviceCopy,
  kMemset,
};

/// Of a GPU: a copy between it and the host takes one wholly, so that the next in that direction begins when it is
/// done.
enum class CopyEngine : std::uint8_t {
  kNone,  ///< no copy, or one that goes with the commands
  kToDevice,
  kToHost,
};

/// Other works are copies, whose commands are fetched by the engines that carry them out.
[[nodiscard]] constexpr bool is_fetched_for_compute(WorkKind kind) {
  return kind != WorkKind::kHostCopy && kind != WorkKind::kDeviceCopy;
}

/// A place in the training loop that puts work on the device: the n-th work of its name in its segment, of collectives
/// the n-th of its name and communicator. Every rank, or every rank of the communicator, has an instance of it in every
/// iteration; what they have in common is kept here. An edit may invent sites: they have no
/// recorded instances.
struct Site {
  stages::SegmentKey segment;
  std::uint32_t ordinal = 0;  ///< among the works of this name in the segment
  std::string name;           ///< as recorded, or as an edit calls it
  WorkKind kind = WorkKind::kKernel;
  bool on_side_stream = false;  ///< recorded on another stream than the one the optimizer runs on
  bool blocks_host = false;     ///< some of its calls return when the copy is done
  CopyEngine engine = CopyEngine::kNone;
  bool in_graph = false;            ///< an edit captured it: its command comes with those of its CUDA graph
  std::optional<double> with_main;  ///< how often the commands of the stream that it was recorded on came through the
                                    ///< queue of the main one's, where a side stream shows it (command_queues.hpp)
  contention::KernelShape shape;    ///< kernels and collectives
  std::int32_t ctas = 0;            ///< SMs that a collective holds
  trace::CollectiveFunction function = trace::CollectiveFunction::kUnknown;
  std::uint32_t communicator = Communicators::kAll;  ///< of a collective: whose ranks meet in it
  Bytes bytes = 0;  ///< of copies; of a collective the most that one rank sends or receives
  std::vector<trace::OperationId> instances;

  double alone_ns = 0;                  ///< with the GPU to itself; of a collective: from the last arrival to the end
  std::vector<double> transfer_ns;      ///< collectives: the same by rank (all-to-alls of uneven parts end apart)
  contention::LostToMemory lost;        ///< collectives: to kernels beside them
  std::optional<double> lost_beside;    ///< kernels: what a collective loses beside them, where the recording shows it
  double crowded_rate = 1.0;            ///< collectives: progress beside kernels, as a part of that by themselves
  RaceOdds races;                       ///< collectives: against kernels that become ready together with them
  double lost_part = 1.0;               ///< collectives: of what those of their kind lose to what runs beside them
  double spread = 0;                    ///< standard deviation of alone_ns on a rank by itself, as a part of it
  double common_spread = 0;             ///< of a collective: besides, on all of its ranks alike
  contention::Sensitivity sensitivity;  ///< kernels: to collectives beside them (contention/slowdown.hpp)
  std::optional<Delays> delays;         ///< under the recorded schedule, on average
  double dispatch_gap_ns = 0;           ///< between the work before it on the stream and its start, when queued early,
                                        ///< where no other stream delays it
};

/// One host call of an iteration, with the works it launched. Also, without call and works, the instant at which a
/// stage that has no calls makes or gives back memory.
struct RecordedCall {
  std::optional<trace::OperationId> call;  ///< none where an edit invented it, or where only memory changes hands
  stages::SegmentKey segment;
  Nanoseconds gap = 0;           ///< host time before it
  Nanoseconds duration = 0;      ///< of the call itself, without the time it was blocked
  bool synchronises = false;     ///< blocks until its stream is drained, or what was queued behind `behind`:
  std::uint32_t first_work = 0;  ///< into RecordedIteration::works
  std::uint32_t works = 0;
  std::optional<trace::OperationId> behind = {};  ///< the call whose stream had the event at its end, where it is known
  bool marks = false;                             ///< this call is such a one
  bool whole_device = false;                      ///< it blocks until all streams are drained
};

struct RecordedWork {
  std::optional<trace::OperationId> work;  ///< none where an edit invented it
  SiteId site;
  bool on_collective_stream = false;    ///< else on that of its call, as are collectives on a compute stream
  std::uint32_t collective_stream = 0;  ///< which one, where it is
  double part = 1.0;         ///< time it takes, by the site's: jagged exchanges differ by batch, kernels by rank
  bool blocks_host = false;  ///< its call returned when the copy was done (unless an edit frees the site of that)
};

struct RecordedIteration {
  std::vector<RecordedCall> calls;
  std::vector<RecordedWork> works;
  Nanoseconds tail = 0;  ///< host time behind the last call
};

/// Host time without the recorder, as a part of the recorded one, where the recording does not tell (host_pace.hpp).
/// Speed-ups of TorchRec jobs come out best between 0.63 and 0.71, on a fast host (launches of 4.5 us, seven jobs) as
/// on slower ones (7 us, thirteen; 9 us, eleven).
inline constexpr double kUsualHostScale = 0.68;

/// A recorded side stream whose commands the GPU fetches together with the main one's (command_queues.hpp).
struct SharedQueue {
  std::string stream;  ///< as lane_name calls it
  double late_ns = 0;  ///< what works of both started later for that, a step, mean over ranks
};

/// A recording boiled down to what replay needs.
struct SiteTable {
  std::vector<Site> sites;
  std::vector<std::string> modules;                       ///< by stages::ModuleId
  std::vector<std::vector<RecordedIteration>> ranks;      ///< by rank, by iteration
  std::vector<std::int32_t> rank_numbers;                 ///< by rank: its number in the job, for messages
  std::vector<std::vector<UndisturbedHost>> undisturbed;  ///< by rank, by iteration
  std::vector<Members> communicators;                     ///< the first: all ranks
  std::vector<std::int32_t> collective_streams = {0};     ///< priority of each
  bool lone_rank = false;                                 ///< nothing is exchanged (lone_rank.hpp)
  bool drops_waits_for_validation = false;  ///< an edit: the host does not wait for what validate_output copies
  bool collectives_cross_host = false;      ///< no direct links between GPUs: collectives share PCIe with host copies
  double host_copy_rate = 1.0;              ///< of a host copy beside such a collective
  double lost_to_host_copies = contention::kLostToHostCopies;  ///< part of its pace that such a collective loses
  double launch_latency_ns = 0;  ///< from the start of a launch call to the start of the work on an idle stream
  double wait_latency_ns = 0;    ///< from the end of what a stream waited for to its next work
  FetchDelays fetch_delays;
  double host_scale = kUsualHostScale;
  std::optional<double> unrecorded_step_ns;  ///< of the recorded schedule without the recorder, where anybody knows
  Nanoseconds step_ns = 0;                   ///< recorded, mean over ranks and the iterations that are replayed
  std::set<std::uint32_t> left_out;          ///< recorded iterations that are not (left_out.hpp)
  std::optional<std::string> difference;     ///< between the collectives of ranks in the first of them, in words
  std::vector<std::string> fitted;           ///< what of this machine the recording itself tells, in words
  std::vector<SharedQueue> shared_queues;    ///< that cost anything, by name
  double uneven_parts_ns = 0;  ///< a step, by which jagged exchanges take longer for where their parts begin
};

/// Finds the sites of a cut trace and estimates what each costs without company. What a machine profile tells (none:
/// null) stands in for what is usual; its launch latency also for the recorded one, which the recorder lengthens.
[[nodiscard]] SiteTable find_sites(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics,
                                   const contention::MachineProfile* machine = nullptr);
/// The same where the process groups of the trace are known already.
[[nodiscard]] SiteTable find_sites(const trace::Trace& trace, const stages::Cut& cut,
                                   const graph::ProcessGroups& groups, Diagnostics& diagnostics,
                                   const contention::MachineProfile* machine = nullptr);

/// Of what a collective sends and receives on its rank, the larger; 0 where the type of its elements is unknown.
[[nodiscard]] inline Bytes bytes_moved(const trace::CollectiveDetail& of) {
  return std::max(of.in_elements, of.out_elements) * of.element_bytes;
}

}  // namespace interlace::replay
