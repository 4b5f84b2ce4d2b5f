#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cupti_collector/allocator_log.hpp"
#include "cupti_collector/buffer_pool.hpp"
#include "cupti_collector/clock.hpp"
#include "cupti_collector/cupti_library.hpp"
#include "cupti_collector/host_events.hpp"
#include "cupti_collector/host_ranges.hpp"
#include "cupti_collector/recording_file.hpp"
#include "cupti_collector/writer_place.hpp"

namespace interlace::collector {

inline constexpr DiagnosticKind kBrokenBuffer{"record.broken_buffer", Severity::kDataLoss,
                                              "buffers of records that could not be read to their end",
                                              "the driver's profiler is at fault; report it with its version"};
inline constexpr DiagnosticKind kDriverMemory{
    "record.driver_memory", Severity::kInfo,
    "device allocations of the driver that were left out, since PyTorch's allocator is recorded",
    "none needed: its segments are there; memory of NCCL, cuBLAS and others is not"};
inline constexpr DiagnosticKind kOldRecord{"record.old_record", Severity::kDataLoss,
                                           "records of a layout older than CUDA 12.0's",
                                           "record with the libcupti of CUDA 12.0 or newer (--cupti)"};
inline constexpr DiagnosticKind kClockSet{
    "record.clock_set", Severity::kWarning, "times that the host's clock was set while recording",
    "times before and after do not fit each other by that much; let the clock be slewed, not stepped"};
inline constexpr DiagnosticKind kLostAllocatorEvents{
    "record.lost_allocator_events", Severity::kDataLoss,
    "events of PyTorch's allocator of threads that were faster than the writer",
    "totals are not known from there on; leave a processor free for the recorder, or record a shorter part"};
inline constexpr DiagnosticKind kLostTasks{
    "record.lost_collectives", Severity::kDataLoss,
    "collectives, sends and receives that NCCL told of, of threads that were faster than the writer",
    "their kernels are not described; leave a processor free for the recorder"};
inline constexpr DiagnosticKind kLostMarks{"record.lost_marks", Severity::kDataLoss,
                                           "marks and ranges of threads that were faster than the writer",
                                           "mark less often"};
inline constexpr DiagnosticKind kOpenRange{"record.open_range", Severity::kInfo,
                                           "ranges that nobody ended; they are given no length",
                                           "none needed; of a program that was cut off they are what it was at"};
inline constexpr DiagnosticKind kOtherNames{"record.other_names", Severity::kDataLoss,
                                            "names of marks, ranges, categories and graphs that came after a million "
                                            "different ones, or 64 MiB of them; they read "
                                            "\"(other names)\"",
                                            "give fewer names: a number can be a payload of NVTX"};
inline constexpr DiagnosticKind kSilentAllocator{
    "record.silent_allocator", Severity::kWarning,
    "recordings in which PyTorch's allocator told of nothing: it does so from the first request on",
    "what it holds is not known; record from the program's start"};
inline constexpr DiagnosticKind kStopped{"record.stopped", Severity::kInfo, "times that recording was stopped",
                                         "what the program did meanwhile is not in the recording"};
inline constexpr DiagnosticKind kLeftOutExternal{
    "record.left_out_external_id", Severity::kInfo,
    "ids of the program's own that were left out: of calls that are not recorded, or a second one of a call",
    "none needed"};
inline constexpr DiagnosticKind kLeftOutEarly{
    "record.left_out_early", Severity::kWarning,
    "marks, ranges, allocator events and collectives that were told long before the first device work, and left out",
    "none needed: the last are there, 100,000 of each, and of those before the first CUDA call 1 MiB of a thread"};
inline constexpr DiagnosticKind kUndescribedCollective{
    "record.undescribed_collective", Severity::kWarning,
    "kernels of NCCL of which its profiler interface told nothing: their bytes and ranks are not known",
    "leave NCCL_PROFILER_PLUGIN to interlace record; NCCL 2.23 or newer tells, but not of what CUDA graphs launch"};
inline constexpr DiagnosticKind kUnknownRecord{"record.unknown_record", Severity::kInfo,
                                               "records of kinds that were not asked for; they are left out",
                                               "none needed"};
inline constexpr DiagnosticKind kUnmatchedPop{"record.unmatched_pop", Severity::kInfo,
                                              "ends of ranges that began before the recording, or never",
                                              "none needed where recording began later"};

inline constexpr DiagnosticKind kUntimedRecord{
    "record.untimed_record", Severity::kDataLoss,
    "calls and events of the driver's memory that came without times; they are left out",
    "the driver lost the times: record a shorter span"};
inline constexpr DiagnosticKind kUntypedCollective{
    "record.untyped_collective", Severity::kInfo,
    "all-gathers and broadcasts of which only the bytes are known, not the element type",
    "none needed; NCCL tells them in bytes, and of a group the last 4,096 calls are remembered"};

/// Takes what the program and CUPTI hand over and writes it to the process's file. One thread; it makes no CUDA calls.
class Recorder {
 public:
  /// cupti: none where only what the program says of itself is recorded. place: to tell where the writer is. All must
  /// outlive this.
  Recorder(const CuptiLibrary* cupti, BufferPool& pool, HostEvents& events, RecordingFile& file,
           std::atomic<WriterPlace>* place = nullptr);

  /// Decodes and writes all that was handed over since the last call, and flushes the file where there was anything.
  /// has_fetched: CUPTI was asked for all that it has since then, so that records that belong together can be missed.
  /// Throws Error where the file cannot be written; then nothing more is to be written, but `discard` goes on.
  void collect(Nanoseconds now, bool has_fetched = true);
  /// Takes all that was handed over and counts it as lost.
  void discard();
  /// Recording stopped or went on at this time: what the program says of itself meanwhile is left out.
  void stopped(Nanoseconds time);
  void resumed(Nanoseconds time);
  /// Ends the file, where there is one.
  void close(Nanoseconds now);

  using ReadStates = std::function<std::vector<trace::AllocatorState>()>;
  /// PyTorch's allocator is recorded from now on. settings: as of PYTORCH_CUDA_ALLOC_CONF; is_whole: no block was
  /// handed out before; read_states: what it holds when asked, telling of that moment by an event.
  void follow_allocator(std::string_view settings, bool is_whole, ReadStates read_states);

  /// To be told of each buffer that was written.
  void on_progress(std::function<void()> told) { progress_ = std::move(told); }
  /// Buffers of records that `discard` took.
  [[nodiscard]] std::int64_t discarded_buffers() const { return discarded_; }

 private:
  /// What was said before there was a file.
  struct EarlyRange {
    NamedRange range;
    std::string name;
    std::string category;
  };

  [[nodiscard]] bool open_file();
  [[nodiscard]] bool has_silent_allocator() const;
  void write_buffers(bool has_fetched);
  void write_events();
  void take_event(const HostEvents::Event& event);
  void write_range(const NamedRange& range);
  void write_early();
  void write_allocator(Nanoseconds until);
  /// Of what waits for the file, the newest are kept.
  template <class Events>
  void limit(Events& early);
  void read_allocator_states();
  void count_unmatched();
  void count_left_out();
  void count_lost_events();
  /// Once a second; true where it did.
  bool add_clocks();

  const CuptiLibrary* cupti_;
  BufferPool& pool_;
  HostEvents& events_;
  RecordingFile& file_;
  std::atomic<WriterPlace>* place_;
  std::deque<BufferPool::Full> held_;  ///< drained, not decoded yet
  std::int64_t waits_for_device_ = 0;
  HostRanges ranges_;
  std::deque<EarlyRange> early_;
  std::map<std::int64_t, std::string> thread_names_;  ///< not written yet
  std::vector<NcclCommunicator> communicators_;       ///< not written yet
  struct TaskOfThread {
    std::int64_t thread = 0;
    Nanoseconds time = 0;
    NcclTask task;
  };
  std::deque<TaskOfThread> nccl_tasks_;  ///< not written yet
  std::deque<StreamMade> streams_made_;  ///< not written yet
  AllocatorLog allocator_;
  std::deque<AllocatorRow> allocator_rows_;  ///< not written yet
  ReadStates read_states_;
  bool has_left_out_memory_ = false;
  std::vector<trace::AllocatorState> states_;  ///< not written yet
  std::vector<Interval> gaps_;                 ///< when recording was stopped, as far as events of then may come
  bool has_allocator_rows_ = false;            ///< since the last state
  std::int64_t unmatched_ = 0;                 ///< of the ranges' ends, counted already
  ClockWatch clock_watch_;
  std::optional<Nanoseconds> last_clocks_;
  Diagnostics flaws_;
  std::array<std::int64_t, 3> lost_{};  ///< of events, by teller, counted already
  std::int64_t forgotten_ = 0;          ///< of events before there was a writer, counted already
  std::int64_t discarded_ = 0;
  std::function<void()> progress_ = [] {};
  bool has_news_ = false;
  bool is_stopped_ = false;
  std::optional<Nanoseconds> stopped_at_;  ///< last
};

}  // namespace interlace::collector
