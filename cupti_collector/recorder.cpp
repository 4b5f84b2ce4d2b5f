#include "cupti_collector/recorder.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "cupti_collector/decode.hpp"

namespace interlace::collector {

namespace {

constexpr Nanoseconds kClockPeriod = kSecond;
/// The rank stands first in a file and names its devices, so the first records wait so many rounds for them.
constexpr std::int64_t kMostWaits = 10;
/// How long an event may be on its way from a thread, with its time, to its ring.
constexpr Nanoseconds kLatestEvent = 2 * kMillisecond;
/// How long after its launch NCCL may tell of a task at most.
constexpr Nanoseconds kLatestTask = 50 * kMillisecond;
/// So many of a kind are kept for a file that is not made yet: a process may mark for hours before it launches, if
/// ever.
constexpr std::size_t kMostEarly = 100'000;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

template <class Value>
std::optional<Value> from_bytes(std::string_view bytes) {
  Value value;
  if (bytes.size() != sizeof(value)) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

/// Picks the devices out of the first buffers.
class DeviceFacts : public RecordSink {
 public:
  void on(const KernelRecord&) override { has_operations = true; }
  void on(const CopyRecord&) override { has_operations = true; }
  void on(const GraphRecord&) override { has_operations = true; }
  void on(const CallRecord&) override { has_operations = true; }
  void on(const EventRecord&) override {}
  void on(const SyncRecord&) override {}
  void on(const StreamRecord&) override {}
  void on(const ContextRecord&) override {}
  void on(const OverheadRecord&) override {}
  void on(const AllocationRecord&) override {}
  void on(const ExternalRecord&) override {}
  void on(const DeviceRecord& device) override {
    trace::Device facts;
    facts.ordinal = device.device;
    if (device.name != nullptr) facts.name = device.name;
    facts.compute_major = device.compute_major;
    facts.compute_minor = device.compute_minor;
    facts.sm_count = device.multiprocessors;
    facts.max_threads_per_sm = device.threads_per_multiprocessor;
    facts.registers_per_sm = device.registers_per_multiprocessor;
    facts.shared_memory_per_sm = device.shared_bytes_per_multiprocessor;
    facts.memory = device.memory_bytes;
    devices.insert_or_assign(device.device, facts);
  }

  bool has_operations = false;
  std::map<std::uint32_t, trace::Device> devices;
};

}  // namespace

Recorder::Recorder(const CuptiLibrary* cupti, BufferPool& pool, HostEvents& events, RecordingFile& file,
                   std::atomic<WriterPlace>* place)
    : cupti_(cupti), pool_(pool), events_(events), file_(file), place_(place), ranges_([this](const NamedRange& range) {
        write_range(range);
      }) {}

/// Makes the file once there is an operation for it; true where there is a file then.
bool Recorder::open_file() {
  if (file_.is_open()) return true;
  DeviceFacts facts;
  for (const BufferPool::Full& buffer : held_) decode(*cupti_, buffer.data, buffer.valid_bytes, facts, Reading::kLook);
  if (!facts.has_operations && !has_news_) return false;
  if (facts.has_operations && facts.devices.empty() && ++waits_for_device_ < kMostWaits) return false;
  std::vector<trace::Device> devices;
  for (auto& [ordinal, device] : facts.devices) devices.push_back(std::move(device));
  file_.open(std::move(devices));
  // A recording that began in the midst of the program has such a beginning as one that went on.
  if (stopped_at_) file_.rows().stopped(*stopped_at_);
  if (stopped_at_ && !is_stopped_) file_.rows().resumed();
  return true;
}

void Recorder::write_buffers(bool has_fetched) {
  // An allocator that was there already may never tell: then the driver's memory is all that there is.
  if (read_states_ && (allocator_.is_whole() || allocator_.has_told())) file_.rows().leave_out_driver_memory();
  while (!held_.empty()) {
    const BufferPool::Full buffer = held_.front();
    const DecodeResult result = decode(*cupti_, buffer.data, buffer.valid_bytes, file_.rows(), Reading::kLast);
    has_news_ = has_news_ || result.records > 0;
    if (!result.is_whole) flaws_.count(kBrokenBuffer, {}, 1);
    if (result.too_short > 0) flaws_.count(kOldRecord, {}, result.too_short);
    if (result.unknown > 0) flaws_.count(kUnknownRecord, {}, result.unknown);
    // One by one: where writing fails, the rest is for `discard`, and a buffer that went back may be CUPTI's again.
    held_.pop_front();
    pool_.recycle(buffer);
    progress_();
  }
  if (has_fetched) file_.rows().settle();
  count_left_out();
  if (cupti_ == nullptr) return;
  std::size_t dropped = 0;
  {
    const InCupti here(place_);
    if (cupti_->get_dropped_records(nullptr, 0, &dropped) != CUPTI_SUCCESS) dropped = 0;
  }
  const std::int64_t lost = pool_.take_lost() + static_cast<std::int64_t>(dropped);
  if (lost == 0) return;
  file_.ledger().dropped(lost);
  has_news_ = true;
}

void Recorder::count_left_out() {
  if (const auto count = file_.rows().undescribed_collectives(); count > 0) {
    flaws_.count(kUndescribedCollective, {}, count);
  }
  if (const auto count = file_.rows().left_out_externals(); count > 0) flaws_.count(kLeftOutExternal, {}, count);
  if (const auto count = file_.rows().left_out_names(); count > 0) flaws_.count(kOtherNames, {}, count);
  if (const auto count = file_.rows().untimed_records(); count > 0) flaws_.count(kUntimedRecord, {}, count);
}

void Recorder::count_lost_events() {
  using enum HostEvents::Teller;
  for (const auto& [teller, kind] :
       {std::pair(kProgram, kLostMarks), {kAllocator, kLostAllocatorEvents}, {kNccl, kLostTasks}}) {
    std::int64_t& counted = lost_[static_cast<std::size_t>(teller)];
    const std::int64_t lost = events_.lost(teller) - counted;
    counted += lost;
    if (lost == 0) continue;
    flaws_.count(kind, {}, lost);
    if (teller == kAllocator) allocator_.lost();
  }
  const std::int64_t forgotten = events_.forgotten();
  const std::int64_t more = forgotten - std::exchange(forgotten_, forgotten);
  if (more > 0) flaws_.count(kLeftOutEarly, {}, more);
}

void Recorder::stopped(Nanoseconds time) {
  ranges_.stopped(time);
  is_stopped_ = true;
  stopped_at_ = time;
  flaws_.count(kStopped);
  if (file_.is_open()) file_.rows().stopped(time);
  read_allocator_states();
  gaps_.push_back({recording_time(), kNever});
}

void Recorder::resumed(Nanoseconds time) {
  ranges_.resumed(time);
  if (!gaps_.empty() && gaps_.back().end == kNever) gaps_.back().end = time;
  if (std::exchange(is_stopped_, false) && file_.is_open()) file_.rows().resumed();
}

void Recorder::write_range(const NamedRange& range) {
  if (!file_.is_open()) {
    early_.push_back({range, std::string(range.name), std::string(range.category)});
    limit(early_);
    return;
  }
  has_news_ = true;
  file_.rows().range(range);
}

template <class Events>
void Recorder::limit(Events& early) {
  for (; early.size() > kMostEarly; early.pop_front()) flaws_.count(kLeftOutEarly, {}, 1);
}

void Recorder::write_early() {
  for (EarlyRange& early : std::exchange(early_, {})) {
    early.range.name = early.name;
    early.range.category = early.category;
    write_range(early.range);
  }
  for (const auto& [thread, name] : std::exchange(thread_names_, {})) file_.rows().name_thread(thread, name);
  for (const StreamMade& stream : std::exchange(streams_made_, {})) file_.rows().stream_made(stream);
  for (const NcclCommunicator& communicator : std::exchange(communicators_, {}))
    file_.rows().communicator(communicator);
  for (const TaskOfThread& one : std::exchange(nccl_tasks_, {})) file_.rows().nccl_task(one.thread, one.time, one.task);
}

void Recorder::take_event(const HostEvents::Event& event) {
  if (event.kind == HostEvents::Kind::kNameThread) {
    thread_names_.insert_or_assign(event.number, std::string(event.name));
  } else if (event.kind == HostEvents::Kind::kAllocator) {
    if (const auto told = from_bytes<hook::Event>(event.name)) allocator_.add(event.thread, event.time, *told);
  } else if (event.kind == HostEvents::Kind::kStreamMade) {
    if (const auto made = from_bytes<StreamMade>(event.name)) streams_made_.push_back(*made);
    limit(streams_made_);
  } else if (event.kind == HostEvents::Kind::kCommunicator) {
    if (const auto made = from_bytes<NcclCommunicator>(event.name)) communicators_.push_back(*made);
  } else if (event.kind == HostEvents::Kind::kNcclTask) {
    // Without its launch a task says nothing.
    const auto is_around = [&](const Interval& gap) {
      return gap.begin + kLatestTask < event.time && event.time < gap.end;
    };
    if (cupti_ == nullptr || std::ranges::any_of(gaps_, is_around)) return;
    const auto task = from_bytes<NcclTask>(event.name);
    if (!task) return;
    if (task->is_untyped) flaws_.count(kUntypedCollective, {}, 1);
    nccl_tasks_.push_back({event.thread, event.time, *task});
    limit(nccl_tasks_);
  } else {
    ranges_.add(event);
  }
}

void Recorder::follow_allocator(std::string_view settings, bool is_whole, ReadStates read_states) {
  allocator_.begin(settings, is_whole);
  read_states_ = std::move(read_states);
}

void Recorder::write_allocator(Nanoseconds until) {
  // Also while recording is stopped and before there is a file: what follows needs the blocks of then.
  for (const AllocatorRow& row : allocator_.take(until)) {
    const auto is_around = [&](const Interval& gap) { return gap.begin < row.time && row.time < gap.end; };
    if (row.event.action == hook::Action::kSnapshot || std::ranges::any_of(gaps_, is_around)) continue;
    allocator_rows_.push_back(row);
    has_allocator_rows_ = true;
  }
  std::erase_if(gaps_, [&](const Interval& gap) { return gap.end < until && gap.end != kNever; });
  if (!file_.is_open()) {
    limit(allocator_rows_);
    return;
  }
  has_news_ = has_news_ || !allocator_rows_.empty();
  for (const AllocatorRow& row : std::exchange(allocator_rows_, {})) file_.rows().allocator_event(row);
  for (trace::AllocatorState& state : std::exchange(states_, {})) file_.add_allocator_state(std::move(state));
  const std::int64_t left_out = file_.rows().left_out_memory();
  if (left_out == 0) return;
  has_left_out_memory_ = true;
  flaws_.count(kDriverMemory, {}, left_out);
}

bool Recorder::has_silent_allocator() const {
  return read_states_ && !allocator_.has_told() && (!allocator_.is_whole() || has_left_out_memory_);
}

void Recorder::read_allocator_states() {
  if (!read_states_) return;
  write_events();
  if (!has_allocator_rows_ && !allocator_.has_events()) return;
  static_cast<void>(allocator_.take_snapshot_times());  // of others, who asked PyTorch for a snapshot
  std::vector<trace::AllocatorState> states;
  {
    const InAllocator here(place_);
    states = read_states_();
  }
  write_events();
  const std::vector<Nanoseconds> times = allocator_.take_snapshot_times();
  for (trace::AllocatorState& state : states) {
    if (times.empty()) continue;
    const auto device = static_cast<std::size_t>(std::max<std::int64_t>(state.device, 0));
    state.time = times[std::min(device, times.size() - 1)];
    states_.push_back(std::move(state));
  }
  write_allocator(kNever);
  has_allocator_rows_ = false;
  has_news_ = true;
}

void Recorder::count_unmatched() {
  const std::int64_t count = ranges_.unmatched() - std::exchange(unmatched_, ranges_.unmatched());
  if (count > 0) flaws_.count(kUnmatchedPop, {}, count);
}

void Recorder::write_events() {
  events_.drain([this](const HostEvents::Event& event) { take_event(event); });
  // The file is made with the devices that device work shows. Without CUPTI there is none to wait for.
  if (cupti_ == nullptr && !early_.empty()) file_.open({});
  if (file_.is_open()) write_early();
  count_lost_events();
  count_unmatched();
}

bool Recorder::add_clocks() {
  const Nanoseconds now = steady_time();
  if (last_clocks_ && now - *last_clocks_ < kClockPeriod) return false;
  last_clocks_ = now;
  const trace::ClockSnapshot clocks = read_clocks([this]() -> std::optional<Nanoseconds> {
    std::uint64_t time = 0;
    const InCupti here(place_);
    if (cupti_ == nullptr || cupti_->get_timestamp(&time) != CUPTI_SUCCESS) return std::nullopt;
    return static_cast<Nanoseconds>(time);
  });
  const Nanoseconds step = clock_watch_.step(clocks);
  if (step != 0) flaws_.count(kClockSet, "by " + std::to_string(step) + " ns");
  file_.add_clock(clocks);
  return true;
}

void Recorder::collect(Nanoseconds now, bool has_fetched) {
  std::vector<BufferPool::Full> drained = pool_.drain();
  held_.insert(held_.end(), drained.begin(), drained.end());
  // What NCCL says of kernels is to be known when they come.
  write_events();
  const bool has_file = held_.empty() ? file_.is_open() : open_file();
  if (has_file) {
    write_early();
    write_buffers(has_fetched);
  }
  write_allocator(now - kLatestEvent);
  // What an allocator holds may be known before there is a file: it waits for one.
  if (!has_news_ || !file_.is_open()) return;
  has_news_ = false;
  if (add_clocks()) file_.add_diagnostics(std::exchange(flaws_, {}));
  file_.flush(now);
}

void Recorder::discard() {
  const std::vector<BufferPool::Full> drained = pool_.drain();
  held_.insert(held_.end(), drained.begin(), drained.end());
  for (const BufferPool::Full& buffer : std::exchange(held_, {})) {
    ++discarded_;
    pool_.recycle(buffer);
  }
  events_.drain([](const HostEvents::Event&) {});
}

void Recorder::close(Nanoseconds now) {
  waits_for_device_ = kMostWaits;  // no device will come any more
  collect(now);
  if (!file_.is_open() && early_.empty()) return;
  if (!file_.is_open()) file_.open({});
  if (!is_stopped_) read_allocator_states();
  write_allocator(kNever);
  const std::int64_t open = ranges_.give_open();
  if (open > 0) flaws_.count(kOpenRange, {}, open);
  if (has_silent_allocator()) flaws_.count(kSilentAllocator);
  write_early();
  count_unmatched();
  file_.rows().finish();
  count_left_out();
  file_.add_diagnostics(flaws_);
  file_.close(now, progress_);
}

}  // namespace interlace::collector
