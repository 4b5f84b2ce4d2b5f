#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cupti_collector/activities.hpp"
#include "cupti_collector/buffer_pool.hpp"
#include "cupti_collector/control_file.hpp"
#include "cupti_collector/cupti_library.hpp"
#include "cupti_collector/host_events.hpp"
#include "cupti_collector/options.hpp"
#include "cupti_collector/recorder.hpp"
#include "cupti_collector/recording_file.hpp"
#include "cupti_collector/recording_switch.hpp"
#include "cupti_collector/step_counter.hpp"
#include "cupti_collector/torch_allocator.hpp"
#include "cupti_collector/torch_ranges.hpp"
#include "cupti_collector/writer_place.hpp"

namespace interlace::collector {

/// Functions that CUPTI and PyTorch call in threads of the program. They carry no pointer of ours, so whoever owns the
/// process's session makes them and leads them to it.
struct CuptiCallbacks {
  CUpti_BuffersCallbackRequestFunc request = nullptr;    ///< calls Session::lend_buffer
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;  ///< calls Session::take_back
  CUpti_CallbackFunc event = nullptr;                    ///< calls Session::on_event
  hook::Take allocator = nullptr;                        ///< calls Session::add_payload
  void (*attached)() = nullptr;                          ///< PyTorch's allocator is recorded from now on
  const hook::RangeListener* ranges = nullptr;           ///< calls Session::add_event; lives as long as the process
};

/// The recording of one process, from its first CUDA call to its end: subscribes to CUPTI, fetches records from a
/// thread of its own and writes them to the process's file. The program runs on whatever happens here.
///
/// After `finish`, or in a forked child, nothing here touches CUPTI. A session is never destroyed: CUPTI may hold its
/// buffers to the last moment of the process.
class Session {
 public:
  Session(Options options, RankIdentity identity);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  enum class Moment : std::uint8_t { kFirstCudaCall, kLater };  ///< later there may be contexts already

  /// Begins to record; what cannot be recorded is said in the session log. False where it had begun. Throws
  /// std::system_error where the process may have no more threads: then nothing is recorded.
  bool start(const CuptiCallbacks& callbacks, Moment moment);
  /// Whether `start` was called, by whatever thread; it may be under way.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Takes what the program says of itself, also before `start` and while paused. Any thread.
  void add_event(const HostEvents::Event& event) noexcept;
  /// Stops and resumes recording; what was launched before is still written. Before `start` it is how recording will
  /// begin. resume: false where nothing will be recorded. Any thread.
  void pause();
  bool resume();
  /// Whether nothing is recorded any more, whoever wishes it.
  [[nodiscard]] bool has_ended() const { return switch_.has_ended(); }
  /// Fetches and writes all that is complete, waiting for it at most so long. Any thread.
  void flush(std::chrono::milliseconds longest);
  enum class End : std::uint8_t { kWhole, kDriverHangs, kDiskHangs };
  /// Ends the recording and its file. Where CUPTI or PyTorch's allocator, which both may wait for the driver, do not
  /// come back for two seconds, or the disk takes nothing for a minute, the file stays as written so far. Whoever
  /// calls it after another has nothing to do. Any thread.
  End finish();
  /// See Options::longest_teardown.
  [[nodiscard]] Nanoseconds longest_teardown() const { return options_.longest_teardown; }
  /// Leaves a line for the summary.
  void note(std::string_view text) const;
  /// To be called in a forked child: nothing more is done there. Async-signal-safe.
  void abandon() noexcept;

  /// Memory for CUPTI's records, and its return; also in a forked child, where CUPTI goes on to ask whom it knows. Null
  /// where there is none and CUPTI can bear that. Any thread; neither locks nor waits.
  [[nodiscard]] std::uint8_t* lend_buffer() noexcept;
  void take_back(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;
  [[nodiscard]] std::size_t buffer_bytes() const { return pool_.buffer_bytes(); }
  void on_event(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  /// Hands data to the writer: the bytes that the kind is said to have. Any thread.
  void add_payload(HostEvents::Kind kind, const void* payload, std::size_t bytes) noexcept;

 private:
  bool start_cupti(const CuptiCallbacks& callbacks);
  void look_for_torch();
  void look_for_ranges();
  void look_for_allocator();
  void on_stream(const CUpti_ResourceData& made) noexcept;
  [[nodiscard]] bool subscribe(CUpti_CallbackFunc callback);
  void set_attributes();
  void start_writer();
  /// Says it to the switch and does what follows from it, at once or, where CUPTI hangs on it, when the writer can.
  template <class Say>
  void change(const Say& say);
  template <class Say>
  void change_as_writer(const Say& say);
  void tell(const UnrecordedSteps& steps) noexcept;
  [[nodiscard]] std::unique_lock<std::timed_mutex> lock_switch();
  void follow_switch();
  void turn(bool is_on);
  void follow_plan(Nanoseconds now);
  void watch_size();
  void watch_rate(Nanoseconds now);
  void dump() noexcept;
  void end_draining(Nanoseconds now);
  void run();
  void step(std::unique_lock<std::mutex>& lock);
  void tell_switches();
  void collect(bool is_last, bool has_fetched = true);
  void fail(const std::exception& error);
  void fetch(std::uint32_t flag);
  void fetch_as_writer(std::uint32_t flag);
  void end_recording();

  Options options_;
  BufferPool pool_;
  /// Beyond the limit, for a CUPTI that would crash without a buffer: what is written to these is counted and lost, so
  /// they are never more than CUPTI fills at once.
  BufferPool scrap_;
  HostEvents events_;
  StepCounter steps_{options_.plan};
  ControlFile control_;
  std::optional<CuptiLibrary> cupti_;
  std::optional<Activities> activities_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  RecordingFile file_;
  std::optional<Recorder> recorder_;
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> has_finished_{false};  ///< `finish` was called
  std::atomic<bool> is_ready_{false};      ///< all above is there, and the writer runs
  std::atomic<bool> is_recording_{false};
  std::atomic<bool> is_draining_{false};  ///< stopped, but the work of what was launched is still to come
  std::atomic<bool> is_abandoned_{false};
  std::atomic<bool> is_cupti_gone_{false};    ///< it ended itself
  std::atomic<bool> is_work_pending_{false};  ///< launched, and not handed over yet
  std::atomic<std::uint64_t> rounds_{0};      ///< of the writer, to see it move on
  std::atomic<WriterPlace> writer_place_{WriterPlace::kAtDisk};
  std::atomic<Nanoseconds> fetch_began_{0};  ///< by the writer, of one that is under way; 0: none is
  RecordingSwitch switch_{options_.plan};

  /// Of what CUPTI records; before the next where both are taken. Its holder may hang in CUPTI: see lock_switch.
  std::timed_mutex switch_mutex_;
  std::atomic<bool> is_switch_stuck_{false};  ///< its holder seems to
  bool has_contexts_ = false;                 ///< or may have
  std::mutex mutex_;                          ///< of all below
  std::condition_variable wake_;
  std::condition_variable done_;
  std::uint64_t flushes_wanted_ = 0;
  std::uint64_t flushes_done_ = 0;
  struct Switch {
    bool is_on = false;
    Nanoseconds time = 0;
  };
  std::vector<Switch> switches_;  ///< stops and starts that the writer has not heard of
  bool finish_wanted_ = false;
  bool is_finished_ = false;
  bool has_failed_ = false;
  std::thread thread_;
  // Of the writer alone.
  TorchAllocator allocator_;
  hook::Take take_ = nullptr;
  void (*attached_)() = nullptr;
  TorchRanges ranges_;
  const hook::RangeListener* listener_ = nullptr;
  Nanoseconds looked_for_torch_ = 0;
  Nanoseconds last_fetch_ = 0;
  Nanoseconds started_ = 0;
  std::optional<Nanoseconds> draining_since_;
  std::optional<Nanoseconds> begin_to_come_;  ///< of the plan, as `end_to_come_`: since `started_`
  std::optional<Nanoseconds> end_to_come_;
  Nanoseconds second_began_ = 0;
  Bytes size_then_ = 0;
  bool has_reached_size_ = false;
  bool has_rested_ = false;
};

}  // namespace interlace::collector
