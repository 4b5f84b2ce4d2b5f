#include "cupti_collector/session.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "cupti_collector/clock.hpp"
#include "cupti_collector/session_log.hpp"

namespace interlace::collector {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReserve = 8;
/// CUPTI fills one or two for each thread of the program.
constexpr Bytes kMostScrap = 4096;
/// How long the end waits for work that is still running before it takes what there is, and how it divides that.
constexpr Nanoseconds kLongestWaitForWork = 200 * kMillisecond;
constexpr milliseconds kPauseForWork{5};
/// How long a stop in the midst of the program does.
constexpr Nanoseconds kLongestDraining = 2 * kSecond;
constexpr milliseconds kLongestPause{200};
/// What may go by at the program's end without a sign that it moves on.
constexpr Nanoseconds kLongestFetch = 2 * kSecond;
constexpr Nanoseconds kLongestWrite = 60 * kSecond;
/// Full buffers are written at least this often, also where unfinished ones are fetched more seldom.
constexpr Nanoseconds kLongestRound = 20 * kMillisecond;
constexpr std::size_t kDeviceBuffers = 8;  ///< that CUPTI makes ahead, not in a launch

std::string thread_name(std::int64_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

std::string producer_of(const std::optional<CuptiLibrary>& cupti) {
  std::string producer = "interlace record " INTERLACE_VERSION;
  if (cupti) producer += ", CUPTI " + std::to_string(cupti->version);
  return producer;
}

/// The program's signals are for the program's threads: those that are made meanwhile take none.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // What a thread does wrong itself is its own: blocked, it would end the program past the program's handlers.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Session::Session(Options options, RankIdentity identity)
    : options_(std::move(options)),
      pool_(options_.buffer_bytes, options_.buffers_limit, 0),
      scrap_(options_.buffer_bytes, kMostScrap * options_.buffer_bytes, 0),
      control_(options_.folder),
      file_(
          {options_.folder, identity, options_.run_id, {}, options_.last, options_.last > 0 ? options_.most_bytes : 0},
          {getpid(),
           [this](ApiDomain domain, std::uint32_t function) {
             const CallTable& table = domain == ApiDomain::kRuntime ? activities_->runtime() : activities_->driver();
             return table.find(function);
           },
           thread_name}) {}

void Session::note(std::string_view text) const { write_log(options_.folder, "note", text); }

bool Session::start(const CuptiCallbacks& callbacks, Moment moment) {
  if (has_begun_.exchange(true)) return false;
  write_log(options_.folder, "process", {});
  if (!start_cupti(callbacks)) cupti_.reset();
  file_.set_producer(producer_of(cupti_));
  recorder_.emplace(cupti_ ? &*cupti_ : nullptr, pool_, events_, file_, &writer_place_);
  started_ = steady_time();
  take_ = callbacks.allocator;
  attached_ = callbacks.attached;
  listener_ = callbacks.ranges;
  look_for_torch();
  // By word recording begins elsewhere.
  if (options_.plan.begin > 0 && !options_.plan.starts_off) begin_to_come_ = options_.plan.begin;
  end_to_come_ = options_.plan.end;
  // Before anything is turned on: without it nobody would take the records.
  start_writer();
  const std::lock_guard lock(switch_mutex_);
  has_contexts_ = moment == Moment::kLater;
  is_ready_ = true;
  if (switch_.is_on()) {
    turn(true);
  } else {
    const std::lock_guard lock_of_writer(mutex_);
    switches_.push_back({false, 0});
  }
  has_contexts_ = true;
  return true;
}

void Session::start_writer() {
  try {
    const AllSignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    is_abandoned_ = true;
    if (cupti_) cupti_->unsubscribe(subscriber_);
    throw;
  }
}

bool Session::start_cupti(const CuptiCallbacks& callbacks) {
  std::vector<std::string> tried;
  cupti_ = load_cupti(options_.cupti, tried);
  if (!cupti_) {
    std::string where;
    for (const std::string& file : tried) where += (where.empty() ? "" : ", ") + file;
    note("no CUPTI library could be loaded, so device work is not recorded (tried " + where +
         "); name one with --cupti");
    return false;
  }
  if (!subscribe(callbacks.event)) return false;
  pool_.keep_free(kReserve);
  set_attributes();
  const CUptiResult status = cupti_->register_callbacks(callbacks.request, callbacks.complete);
  if (status != CUPTI_SUCCESS) {
    note("CUPTI takes no buffers, so device work is not recorded: " + cupti_->describe(status));
    cupti_->unsubscribe(subscriber_);
    return false;
  }
  activities_.emplace(*cupti_, options_.light, options_.whole_graphs);
  for (const std::string& refused : activities_->enable_places()) note("not recorded: " + refused);
  for (const CUpti_CallbackId id : {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_CREATED}) {
    cupti_->enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id);
  }
  cupti_->enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  // CUDA 13.0 before its first update records no synchronisation of a whole device.
  constexpr std::uint32_t kWithoutDeviceSync = 130000;
  if (cupti_->version == kWithoutDeviceSync) {
    note("this CUPTI (CUDA 13.0 without its update 1) does not tell of cudaDeviceSynchronize: update it");
  }
  return true;
}

bool Session::subscribe(CUpti_CallbackFunc callback) {
  std::array<char, 256> holder{};
  CUptiResult status = CUPTI_SUCCESS;
  if (cupti_->subscribe_v2 != nullptr) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "Interlace";
    params.oldSubscriberName = holder.data();
    params.oldSubscriberSize = holder.size();
    status = cupti_->subscribe_v2(&subscriber_, callback, nullptr, &params);
  } else {
    status = cupti_->subscribe(&subscriber_, callback, nullptr);
  }
  if (status == CUPTI_SUCCESS) return true;
  const bool is_held = status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  const std::string why = is_held ? "another tool holds CUPTI (" +
                                        std::string(holder[0] == '\0' ? "unnamed" : holder.data()) +
                                        "): end it to record device work"
                                  : "CUPTI cannot be used: " + cupti_->describe(status);
  note(why + "; only what the program says of itself is recorded");
  return false;
}

void Session::set_attributes() {
  const auto set = [&](CUpti_ActivityAttribute attribute, auto value, const char* what) {
    std::size_t size = sizeof(value);
    const CUptiResult status = cupti_->set_attribute(attribute, &size, &value);
    if (status != CUPTI_SUCCESS) note(std::string("CUPTI refuses ") + what + ": " + cupti_->describe(status));
  };
  set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, std::uint8_t{1}, "cleared buffers");
  set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, std::uint8_t{1}, "a buffer for each thread");
  set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, kDeviceBuffers, "device buffers made ahead");
  cupti_->set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
}

std::uint8_t* Session::lend_buffer() noexcept {
  std::uint8_t* buffer = is_abandoned_.load(std::memory_order_relaxed) ? nullptr : pool_.take();
  return buffer != nullptr || cupti_->takes_refusals() ? buffer : scrap_.take();
}

void Session::take_back(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  if (!scrap_.owns(buffer)) {
    pool_.give_back(buffer, valid_bytes);
    return;
  }
  pool_.count_lost(cupti_->count_records(buffer, valid_bytes));
  scrap_.throw_back(buffer, valid_bytes);
}

void Session::add_event(const HostEvents::Event& event) noexcept {
  if (is_abandoned_.load(std::memory_order_relaxed)) return;
  if (const auto word = steps_.on(event, is_recording_)) {
    change([&](RecordingSwitch& all) { all.wish(word->is_on); });
    if (word->before) tell(*word->before);
  }
  events_.add(event);
}

void Session::tell(const UnrecordedSteps& steps) noexcept {
  try {
    events_.add(HostEvents::Kind::kMark, to_mark(steps));
  } catch (const std::bad_alloc&) {
    // Predictions then assume what recording costs.
  }
}

template <class Say>
void Session::change(const Say& say) {
  say(switch_);
  follow_switch();
}

template <class Say>
void Session::change_as_writer(const Say& say) {
  const InCupti here(&writer_place_);
  change(say);
}

/// Waits for it as long as a stop may take, and not at all where that was in vain before: the program goes on.
std::unique_lock<std::timed_mutex> Session::lock_switch() {
  std::unique_lock lock(switch_mutex_, std::try_to_lock);
  if (!lock.owns_lock() && !is_switch_stuck_) static_cast<void>(lock.try_lock_for(kLongestPause));
  is_switch_stuck_ = !lock.owns_lock();
  return lock;
}

void Session::follow_switch() {
  // A CUPTI that hangs in handing over would keep this thread, too.
  const Nanoseconds began = fetch_began_;
  if (began != 0 && steady_time() - began > kLongestFetch) return;
  const auto lock = lock_switch();
  if (lock.owns_lock() && is_ready_) turn(switch_.is_on());
}

/// REQUIRES: switch_mutex_ is held.
void Session::turn(bool is_on) {
  if (is_recording_.exchange(is_on) == is_on) return;
  const bool has_cupti = cupti_ && !is_cupti_gone_;
  if (has_cupti && is_on) {
    for (const std::string& refused : activities_->enable(has_contexts_)) note("not recorded: " + refused);
  }
  if (has_cupti && !is_on) activities_->disable_calls();
  is_draining_ = !is_on;
  const std::lock_guard lock_of_writer(mutex_);
  switches_.push_back({is_on, recording_time()});
}

void Session::tell_switches() {
  std::vector<Switch> switches;
  {
    const std::lock_guard lock(mutex_);
    switches.swap(switches_);
  }
  for (const Switch& one : switches) {
    if (one.is_on) {
      recorder_->resumed(one.time);
    } else {
      recorder_->stopped(one.time);
    }
  }
}

void Session::pause() {
  if (is_abandoned_) return;
  change([](RecordingSwitch& all) { all.wish(false); });
  if (!is_ready_) return;
  const Nanoseconds latest = steady_time() + Nanoseconds{kLongestPause.count()} * kMillisecond;
  do {
    flush(kLongestPause);
  } while (is_draining_ && steady_time() < latest);
}

bool Session::resume() {
  if (is_abandoned_ || has_ended()) return false;
  change([](RecordingSwitch& all) { all.wish(true); });
  return true;
}

void Session::follow_plan(Nanoseconds now) {
  const auto wish = [this](bool is_on) { change_as_writer([&](RecordingSwitch& all) { all.wish(is_on); }); };
  const auto comes = [&](std::optional<Nanoseconds>& time) {
    if (!time || now - started_ < *time) return false;
    time.reset();
    return true;
  };
  if (comes(begin_to_come_)) wish(true);
  if (const auto is_on = control_.changed(now)) wish(*is_on);
  if (comes(end_to_come_)) wish(false);
}

void Session::watch_size() {
  if (has_reached_size_ || options_.most_bytes == 0) return;
  if (options_.last > 0) {
    has_reached_size_ = file_.is_cut();
    if (has_reached_size_) note("less is kept in memory than --last says: it would be more than --max-mb allows");
    return;
  }
  if (file_.size() < options_.most_bytes) return;
  has_reached_size_ = true;
  change_as_writer([](RecordingSwitch& all) { all.end(); });
  note("the file has reached its largest size (--max-mb): nothing after that is recorded");
}

void Session::watch_rate(Nanoseconds now) {
  if (options_.most_bytes_a_second == 0) return;
  if (now - second_began_ >= kSecond) {
    second_began_ = now;
    size_then_ = file_.grown();
    change_as_writer([](RecordingSwitch& all) { all.rest(false); });
    return;
  }
  if (!is_recording_ || file_.grown() - size_then_ < options_.most_bytes_a_second) return;
  change_as_writer([](RecordingSwitch& all) { all.rest(true); });
  if (std::exchange(has_rested_, true)) return;
  note("the file grows faster than it may (--max-mb-per-s): parts of seconds are not recorded");
}

void Session::dump() noexcept {
  try {
    if (!file_.is_open() || has_failed_) return;
    file_.dump([this] { ++rounds_; });
  } catch (const std::exception& error) {
    note("what is kept in memory could not be written: " + std::string(error.what()));
  }
}

void Session::end_draining(Nanoseconds now) {
  if (!is_draining_) {
    draining_since_.reset();
    return;
  }
  if (!draining_since_) draining_since_ = now;
  if (is_work_pending_ && now - *draining_since_ < kLongestDraining) return;
  const InCupti here(&writer_place_);
  const auto lock = lock_switch();
  if (!lock.owns_lock() || is_recording_) return;
  if (cupti_ && !is_cupti_gone_) activities_->disable_work();
  is_draining_ = false;
}

void Session::flush(milliseconds longest) {
  if (is_abandoned_ || !is_ready_) return;
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++flushes_wanted_;
  wake_.notify_all();
  done_.wait_for(lock, longest, [&] { return is_finished_ || flushes_done_ >= mine; });
}

Session::End Session::finish() {
  if (is_abandoned_ || !is_ready_ || has_finished_.exchange(true)) return End::kWhole;
  std::unique_lock lock(mutex_);
  finish_wanted_ = true;
  wake_.notify_all();
  constexpr milliseconds kLook{50};
  std::optional<std::uint64_t> seen;
  for (Nanoseconds since = 0; !is_finished_; done_.wait_for(lock, kLook, [&] { return is_finished_; })) {
    const Nanoseconds now = steady_time();
    if (seen != rounds_.load()) {
      seen = rounds_.load();
      since = now;
    }
    if (now - since >= (writer_place_ == WriterPlace::kAtDisk ? kLongestWrite : kLongestFetch)) break;
  }
  const bool is_done = is_finished_;
  lock.unlock();
  if (is_done) {
    if (thread_.joinable()) thread_.join();
    return End::kWhole;
  }
  thread_.detach();
  switch (writer_place_) {
    case WriterPlace::kAtDisk:
      note("the last records could not be written in time; the file ends before them");
      return End::kDiskHangs;
    case WriterPlace::kInCupti:
      note("CUPTI did not hand over its last records in time; the file ends before them");
      break;
    case WriterPlace::kInAllocator:
      note("PyTorch's allocator did not tell what it holds in time; the file ends before that");
      break;
  }
  return End::kDriverHangs;
}

void Session::abandon() noexcept {
  is_abandoned_ = true;
  is_recording_ = false;
  file_.abandon();
}

void Session::look_for_torch() {
  looked_for_torch_ = steady_time();
  look_for_ranges();
  look_for_allocator();
}

void Session::look_for_ranges() {
  if (ranges_.is_settled() || listener_ == nullptr) return;
  ranges_.look(*listener_, options_.light ? hook::Operators::kNone : hook::Operators::kOfAutograd);
  if (!ranges_.why().empty()) note("PyTorch's ranges are not recorded: " + ranges_.why());
}

void Session::look_for_allocator() {
  // Its history fills most of a light recording, which is to cost as little as possible.
  if (allocator_.is_settled() || options_.light || take_ == nullptr) return;
  const TorchAllocator::Presence presence = allocator_.look(take_);
  if (presence == TorchAllocator::Presence::kRefused) note("PyTorch's allocator is not recorded: " + allocator_.why());
  if (!allocator_.is_recorded()) return;
  if (attached_ != nullptr) attached_();
  std::string settings;
  for (const char* variable : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read as PyTorch does
    if (const char* text = std::getenv(variable)) settings += text;
  }
  recorder_->follow_allocator(settings, presence == TorchAllocator::Presence::kWhole,
                              [this] { return allocator_.states(); });
}

void Session::add_payload(HostEvents::Kind kind, const void* payload, std::size_t bytes) noexcept {
  if (is_abandoned_.load(std::memory_order_relaxed)) return;
  events_.add(kind, {static_cast<const char*>(payload), bytes});
}

void Session::on_stream(const CUpti_ResourceData& made) noexcept {
  if (cupti_->get_context_id == nullptr || cupti_->get_stream_id == nullptr) return;
  StreamMade stream;
  stream.handle = reinterpret_cast<std::uintptr_t>(made.resourceHandle.stream);
  if (cupti_->get_context_id(made.context, &stream.context) != CUPTI_SUCCESS ||
      cupti_->get_stream_id(made.context, made.resourceHandle.stream, 0, &stream.stream) != CUPTI_SUCCESS) {
    return;
  }
  add_payload(HostEvents::Kind::kStreamMade, &stream, sizeof(stream));
}

void Session::on_event(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (is_abandoned_) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_STREAM_CREATED && data != nullptr) {
    on_stream(*static_cast<const CUpti_ResourceData*>(data));
  }
  if (is_recording_ && domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    // The records of a context go with it. The writer must not be waited for here: it may wait for this thread.
    fetch(0);
  }
  if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR) {
    is_cupti_gone_ = true;  // the writer ends the recording: this thread may be within a change of it
    note("CUPTI met a fatal error and ended itself: nothing after this moment is recorded");
  }
}

void Session::fetch(std::uint32_t flag) {
  // Without a buffer of ours or work under way CUPTI has nothing, and flushing before any use of the GPU hangs some
  // versions.
  if (cupti_ && !is_cupti_gone_ && (pool_.out() + scrap_.out() > 0 || is_work_pending_)) cupti_->flush_all(flag);
}

void Session::fetch_as_writer(std::uint32_t flag) {
  const InCupti here(&writer_place_);
  fetch_began_ = steady_time();
  fetch(flag);
  fetch_began_ = 0;
}

void Session::collect(bool is_last, bool has_fetched) {
  if (has_failed_) {
    recorder_->discard();
    return;
  }
  try {
    tell_switches();
    if (is_last) {
      recorder_->close(recording_time());
    } else {
      recorder_->collect(recording_time(), has_fetched);
    }
    is_work_pending_ = file_.is_open() && file_.ledger().pending() > 0;
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Session::fail(const std::exception& error) {
  has_failed_ = true;
  note("the recording ends here, the program goes on: " + std::string(error.what()));
  if (file_.is_open()) {
    const std::int64_t seconds = (steady_time() - started_) / kSecond;
    const std::string when = "after " + std::to_string(seconds) + " s, " + error.what();
    write_log(options_.folder, "failed", file_.path().filename().string() + ": " + when);
    try {
      file_.rescue(when, [this] { ++rounds_; });
    } catch (const std::exception& again) {
      note("what is kept in memory could not be written: " + std::string(again.what()));
    }
  }
  const InCupti here(&writer_place_);
  change([](RecordingSwitch& all) { all.end(); });
  if (cupti_ && !is_cupti_gone_) activities_->disable_work();
}

void Session::end_recording() {
  const Nanoseconds latest = steady_time() + kLongestWaitForWork;
  do {
    fetch_as_writer(0);
    collect(false);
    ++rounds_;
    if (is_work_pending_) std::this_thread::sleep_for(kPauseForWork);
  } while (is_work_pending_ && !has_failed_ && steady_time() < latest);
  // The kinds stay on: turning them off while the program's other threads still run is one more thing that may hang,
  // and what comes after is not written.
  switch_.end();
  {
    const InCupti here(&writer_place_);  // as a thread of the program may be, that changes what is recorded
    const std::lock_guard lock(switch_mutex_);
    is_recording_ = false;
  }
  fetch_as_writer(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  ++rounds_;
  collect(true);
  if (recorder_->discarded_buffers() > 0) {
    note(std::to_string(recorder_->discarded_buffers()) + " buffers of records were lost after that");
  }
}

void Session::run() {
  pthread_setname_np(pthread_self(), "interlace");
  recorder_->on_progress([this] {
    ++rounds_;
    watch_size();
  });
  std::unique_lock lock(mutex_);
  while (!finish_wanted_) step(lock);
  lock.unlock();
  end_recording();
  lock.lock();
  is_finished_ = true;
  done_.notify_all();
}

void Session::step(std::unique_lock<std::mutex>& lock) {
  wake_.wait_for(lock, std::chrono::nanoseconds(std::min(options_.flush_period, kLongestRound)),
                 [&] { return finish_wanted_ || flushes_wanted_ > flushes_done_; });
  const std::uint64_t answered = flushes_wanted_;
  if (finish_wanted_) return;
  const bool is_asked = answered > flushes_done_;
  lock.unlock();
  const Nanoseconds now = steady_time();
  const bool is_fed = is_recording_ || is_draining_;
  const bool is_due = is_asked || (now - last_fetch_ >= options_.flush_period && is_fed);
  if (is_due) {
    fetch_as_writer(0);
    last_fetch_ = now;
  }
  constexpr Nanoseconds kLookPeriod = 250 * kMillisecond;
  if (now - looked_for_torch_ >= kLookPeriod) look_for_torch();
  collect(false, is_due || !is_fed);  // where nothing comes, nothing is waited for
  end_draining(now);
  follow_plan(now);
  watch_size();
  watch_rate(now);
  if (is_cupti_gone_) switch_.end();
  // What was said while another held the switch.
  if (is_recording_ != switch_.is_on()) change_as_writer([](RecordingSwitch&) {});
  if (options_.last > 0 && control_.wants_dump(now)) dump();
  if (cupti_) pool_.keep_free(kReserve);
  lock.lock();
  flushes_done_ = answered;
  done_.notify_all();
}

}  // namespace interlace::collector
