#include "cupti_collector/collective_join.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

namespace interlace::collector {

namespace {

using trace::CollectiveFunction;

/// Launches of a thread that are remembered; a plan's is among the last of them.
constexpr std::size_t kMostLaunches = 8192;
/// How many rounds, in each of which all records so far were fetched, a plan waits for its launch.
constexpr std::int64_t kMostRounds = 50;
/// After so many, the last launch that is known is taken where it is near; NCCL takes microseconds, but
/// its thread may have lost the processor.
constexpr std::int64_t kPatience = 6;
constexpr Nanoseconds kNear = 50 * kMillisecond;
/// Facts whose kernel never came are forgotten beyond so many.
constexpr std::size_t kMostKnown = 1U << 16U;

template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& from) {
  return {from.data(), static_cast<std::size_t>(std::ranges::find(from, '\0') - from.begin())};
}

CollectiveFunction function_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, CollectiveFunction>, 11> kFunctions{{
      {"AllReduce", CollectiveFunction::kAllReduce},
      {"AllGather", CollectiveFunction::kAllGather},
      {"ReduceScatter", CollectiveFunction::kReduceScatter},
      {"AlltoAll", CollectiveFunction::kAllToAll},
      {"Broadcast", CollectiveFunction::kBroadcast},
      {"Reduce", CollectiveFunction::kReduce},
      {"Gather", CollectiveFunction::kGather},
      {"Scatter", CollectiveFunction::kScatter},
      {"SendRecv", CollectiveFunction::kSendRecv},
      {"Send", CollectiveFunction::kSendRecv},
      {"Recv", CollectiveFunction::kSendRecv},
  }};
  const auto known = std::ranges::find(kFunctions, name, [](const auto& entry) { return entry.first; });
  return known == kFunctions.end() ? CollectiveFunction::kUnknown : known->second;
}

struct Datatype {
  std::string_view nccl;
  std::string_view name;
  Bytes bytes = 0;
};

/// NCCL 2.28 and older have no word for ncclUint8.
Datatype datatype_of(std::string_view name) {
  static constexpr std::array<Datatype, 13> kTypes{{{"ncclFloat32", "Float", 4},
                                                    {"ncclBfloat16", "BFloat16", 2},
                                                    {"ncclFloat16", "Half", 2},
                                                    {"ncclFloat64", "Double", 8},
                                                    {"ncclInt8", "Char", 1},
                                                    {"ncclUint8", "Byte", 1},
                                                    {"Unknown", "Byte", 1},
                                                    {"ncclInt32", "Int", 4},
                                                    {"ncclUint32", "UInt32", 4},
                                                    {"ncclInt64", "Long", 8},
                                                    {"ncclUint64", "UInt64", 8},
                                                    {"ncclFloat8e4m3", "Float8_e4m3fn", 1},
                                                    {"ncclFloat8e5m2", "Float8_e5m2", 1}}};
  const auto known = std::ranges::find(kTypes, name, &Datatype::nccl);
  return known == kTypes.end() ? Datatype{name, name, 0} : *known;
}

/// A collective's share in what its rank gives and gets. NCCL counts what one rank gives of an all-gather and gets of a
/// reduce-scatter, and one part of an all-to-all, gather or scatter.
void add_collective(CollectiveFunction function, std::int64_t count, std::int64_t ranks, CollectiveFacts& facts) {
  const std::int64_t all = count * std::max<std::int64_t>(ranks, 1);
  const bool gives_all = function == CollectiveFunction::kReduceScatter || function == CollectiveFunction::kAllToAll ||
                         function == CollectiveFunction::kScatter;
  const bool gets_all = function == CollectiveFunction::kAllGather || function == CollectiveFunction::kAllToAll ||
                        function == CollectiveFunction::kGather;
  facts.in_elements += gives_all ? all : count;
  facts.out_elements += gets_all ? all : count;
}

std::string group_name(const NcclCommunicator& communicator) {
  std::array<char, 20> number{};
  static_cast<void>(std::snprintf(number.data(), number.size(), "%016llx",
                                  static_cast<unsigned long long>(communicator.id)));  // NOLINT(google-runtime-int)
  const std::string_view name = text_of(communicator.name);
  return name.empty() ? std::string(number.data()) : std::string(name) + " " + number.data();
}

/// Where the parts of an exchange begin.
void note_alignments(const std::vector<NcclTask>& parts, CollectiveFacts& facts) {
  facts.part_alignment = facts.own_part_alignment = trace::kWidestCopy;
  for (const NcclTask& part : parts) {
    if (part.peer < 0 || part.count == 0) continue;
    std::int32_t& alignment = part.peer == part.rank ? facts.own_part_alignment : facts.part_alignment;
    alignment = std::min(alignment, trace::alignment_of(part.send_buffer | part.receive_buffer));
  }
}

}  // namespace

void CollectiveJoin::task(std::int64_t thread, Nanoseconds time, const NcclTask& task) {
  const auto mine = std::find_if(plans_.rbegin(), plans_.rend(),
                                 [&](const Plan& plan) { return plan.thread == thread && plan.number == task.plan; });
  if (mine != plans_.rend()) {
    mine->tasks.push_back(task);
  } else {
    plans_.push_back({thread, task.plan, time, round_, {task}});
  }
}

void CollectiveJoin::launch(std::int64_t thread, Nanoseconds end, std::int64_t correlation) {
  std::deque<Launch>& launches = launches_[thread];
  // Buffers of one thread come in order, or nearly so.
  auto place = launches.end();
  while (place != launches.begin() && std::prev(place)->end > end) --place;
  launches.insert(place, {end, correlation});
  if (launches.size() > kMostLaunches) launches.pop_front();
}

std::optional<std::int64_t> CollectiveJoin::launch_of(const Plan& plan) const {
  const auto launches = launches_.find(plan.thread);
  if (launches == launches_.end()) return std::nullopt;
  const std::deque<Launch>& of_thread = launches->second;
  const auto after = std::ranges::upper_bound(of_thread, plan.time, {}, &Launch::end);
  if (after == of_thread.begin()) return std::nullopt;
  // Without a later call of the thread the launch itself may still be to come; then an earlier one is far off.
  const auto known_until = known_until_.find(plan.thread);
  const bool is_known = known_until != known_until_.end() && known_until->second > plan.time;
  const bool is_near = round_ >= plan.round + kPatience && plan.time - std::prev(after)->end < kNear;
  if (!is_known && !is_near) return std::nullopt;
  return std::prev(after)->correlation;
}

CollectiveFacts CollectiveJoin::facts_of(const Plan& plan) const {
  CollectiveFacts facts;
  const NcclTask& first = plan.tasks.front();
  const auto communicator = communicators_.find(first.communicator);
  if (communicator != communicators_.end()) {
    facts.group = group_name(communicator->second);
    facts.group_size = communicator->second.ranks;
  }
  std::set<std::int32_t> peers;
  bool sends = false;
  bool receives = false;
  for (const NcclTask& task : plan.tasks) {
    const std::string_view name = text_of(task.function);
    const CollectiveFunction function = function_of(name);
    const Datatype type = datatype_of(text_of(task.datatype));
    if (facts.name.empty()) {
      facts.name = name;
      facts.function = function;
      facts.dtype = type.name;
      facts.element_bytes = type.bytes;
    }
    facts.channels = std::max(facts.channels, task.channels);  // tasks of one kernel share its channels
    if (!facts.in_buffer && task.send_buffer != 0) facts.in_buffer = task.send_buffer;
    if (!facts.out_buffer && task.receive_buffer != 0) facts.out_buffer = task.receive_buffer;
    auto count = static_cast<std::int64_t>(task.count);
    if (type.bytes != facts.element_bytes && facts.element_bytes > 0) count = count * type.bytes / facts.element_bytes;
    if (task.peer < 0) {
      if (!facts.sequence) facts.sequence = task.sequence;
      add_collective(function, count, facts.group_size, facts);
      continue;
    }
    peers.insert(task.peer);
    const bool is_send = name == "Send";
    sends = sends || is_send;
    receives = receives || !is_send;
    (is_send ? facts.in_elements : facts.out_elements) += count;
  }
  // Sends and receives with nearly all ranks at once are what an all-to-all is made of; a rank may have nothing for
  // one.
  const auto others = static_cast<std::int64_t>(facts.group_size) - 1;
  const bool is_exchange = sends && receives && others > 0 && static_cast<std::int64_t>(peers.size()) > others / 2 &&
                           (others > 1 || peers.size() > 1);
  if (facts.function == CollectiveFunction::kSendRecv && is_exchange) {
    facts.function = CollectiveFunction::kAllToAll;
    facts.name = "AlltoAll";
    note_alignments(plan.tasks, facts);
  } else if (facts.function == CollectiveFunction::kSendRecv) {
    facts.name = sends && receives ? "SendRecv" : facts.name;
  }
  return facts;
}

void CollectiveJoin::settle() {
  ++round_;
  std::erase_if(plans_, [&](const Plan& plan) {
    // Its last tasks may still be under way.
    if (plan.round + 1 >= round_) return false;
    const auto correlation = launch_of(plan);
    if (!correlation) return round_ > plan.round + kMostRounds;
    // A launch that has its plan is not that of the next, whose own is not recorded.
    std::int64_t& last = last_joined_.try_emplace(plan.thread, -1).first->second;
    if (*correlation > last) known_.insert_or_assign(last = *correlation, facts_of(plan));
    return true;
  });
  while (known_.size() > kMostKnown) known_.erase(known_.begin());
}

std::optional<CollectiveFacts> CollectiveJoin::take(std::int64_t correlation) {
  const auto known = known_.extract(correlation);
  return known ? std::optional(std::move(known.mapped())) : std::nullopt;
}

}  // namespace interlace::collector
