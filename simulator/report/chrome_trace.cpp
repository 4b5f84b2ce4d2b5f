#include "simulator/report/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string_view>
#include <utility>

#include "simulator/report/json_string.hpp"
#include "simulator/report/tracks.hpp"
#include "simulator/trace/lane_name.hpp"

namespace interlace::report {

namespace {

using trace::OperationId;
using trace::OperationKind;

/// Kineto's word for the kind of an operation, so that tools that read its files find their way.
std::string_view category(const trace::Trace& trace, OperationId op) {
  switch (trace.kind(op)) {
    case OperationKind::kKernel:
    case OperationKind::kCollective: return "kernel";
    case OperationKind::kCopy: return "gpu_memcpy";
    case OperationKind::kMemset: return "gpu_memset";
    case OperationKind::kHostCall:
    case OperationKind::kEventRecord:
    case OperationKind::kStreamWait:
    case OperationKind::kHostSync: return "cuda_runtime";
    case OperationKind::kDeviceRange: return "gpu_user_annotation";
    case OperationKind::kAllocation: return "cpu_instant_event";
    case OperationKind::kRange: break;
  }
  switch (trace.range(op)->kind) {
    case trace::RangeKind::kAnnotation: return "user_annotation";
    case trace::RangeKind::kCpuOp: return "cpu_op";
    case trace::RangeKind::kPython: return "python_function";
    case trace::RangeKind::kProfilerOverhead: return "overhead";
    case trace::RangeKind::kOther: return "other";
  }
  return "other";
}

/// Writes one file; holds at most about a megabyte of text back.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  /// Readers of recordings know such a file by its first field: it looks like one of the profiler and holds less.
  void open() { put("{{\"interlace_timeline\":1,\"displayTimeUnit\":\"ms\",\"traceEvents\":["); }
  void close() {
    put("\n]}}\n");
    flush();
  }

  void run(const ChromeRun& run, Nanoseconds offset) {
    trace_ = run.trace;
    offset_ = offset;
    const Tracks tracks = lay_out(*trace_);
    first_process_ = next_process_;
    next_process_ += trace_->ranks().size();
    for (std::size_t rank = 0; rank < trace_->ranks().size(); ++rank) name_process(run, rank);
    first_track_ = next_track_;
    next_track_ += tracks.tracks.size();
    for (std::size_t i = 0; i < tracks.tracks.size(); ++i) name_thread(tracks.tracks[i], i);
    for (std::uint32_t i = 0; i < trace_->size(); ++i) {
      operation({i}, tracks);
      if (buffer_.size() > kFlushAt) flush();
    }
  }

 private:
  static constexpr std::size_t kFlushAt = std::size_t{1} << 20U;

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  void begin_event() {
    put("{}", first_event_ ? "\n{" : ",\n{");
    first_event_ = false;
  }

  void text(std::string_view value) { append_json_string(buffer_, value); }

  /// Microseconds with three decimals.
  void time(std::string_view key, Nanoseconds value) { put(",\"{}\":{}.{:03}", key, value / 1000, value % 1000); }

  void name_process(const ChromeRun& run, std::size_t rank) {
    const std::string rank_name = fmt::format("rank {}", trace_->ranks()[rank].number);
    const std::size_t process = first_process_ + rank;
    begin_event();
    put("\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":", process);
    text(run.title.empty() ? rank_name : run.title + " " + rank_name);
    put("}}}}");
    begin_event();
    put("\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"tid\":0,\"args\":{{\"sort_index\":{}}}}}", process,
        process);
  }

  void name_thread(const Track& track, std::size_t index) {
    const trace::Lane& lane = trace_->lane(track.lane);
    const std::size_t process = first_process_ + lane.rank.index();
    begin_event();
    put("\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":", process,
        first_track_ + index);
    text(lane.priority && *lane.priority != 0 ? fmt::format("{} (priority {})", track.name, *lane.priority)
                                              : track.name);
    put("}}}}");
    begin_event();
    put("\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", process,
        first_track_ + index, index);
  }

  /// "pid" and "tid" of the row that an operation is drawn on.
  void place(OperationId op, const Tracks& tracks) {
    put(",\"pid\":{},\"tid\":{}", first_process_ + trace_->rank_of(op).index(),
        first_track_ + tracks.track_of[op.index()]);
  }

  void operation(OperationId op, const Tracks& tracks) {
    const bool is_instant = trace_->kind(op) == OperationKind::kAllocation;
    begin_event();
    put("\"ph\":\"{}\",\"cat\":\"{}\",\"name\":", is_instant ? "i" : "X", category(*trace_, op));
    text(trace_->name(op));
    place(op, tracks);
    time("ts", trace_->start(op) + offset_);
    if (is_instant) {
      put(",\"s\":\"t\"");
    } else {
      time("dur", trace_->duration(op));
    }
    arguments(op);
    put("}}");
    if (!trace::is_device_work(trace_->kind(op))) return;
    if (const auto launch = trace_->launch_of(op)) arrow(*launch, op, tracks);
  }

  void arrow(OperationId from, OperationId to, const Tracks& tracks) {
    ++arrows_;
    begin_event();
    put("\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":{}", arrows_);
    place(from, tracks);
    time("ts", trace_->start(from) + offset_);
    put("}}");
    begin_event();
    put("\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":{}", arrows_);
    place(to, tracks);
    time("ts", trace_->start(to) + offset_);
    put("}}");
  }

  void arguments(OperationId op) {
    if (const auto* kernel = trace_->kernel(op)) {
      put(",\"args\":{{\"grid\":[{}],\"block\":[{}],\"registers per thread\":{},\"shared memory\":{}",
          fmt::join(kernel->grid, ","), fmt::join(kernel->block, ","), kernel->registers_per_thread,
          kernel->shared_memory);
      if (const auto* collective = trace_->collective(op)) collective_arguments(*collective);
      put("}}");
    } else if (const auto* copy = trace_->copy(op)) {
      put(",\"args\":{{\"bytes\":{},\"from\":\"{}\",\"to\":\"{}\"}}", copy->bytes, to_string(copy->source),
          to_string(copy->destination));
    } else if (const auto* sync = trace_->sync(op)) {
      put(",\"args\":{{\"sync\":\"{}\"", to_string(sync->kind));
      if (sync->stream) named_lane("stream", *sync->stream);
      if (sync->record_stream) named_lane("recorded on", *sync->record_stream);
      if (const auto* note = trace_->note(op)) note_arguments(*note, ",");
      put("}}");
    } else if (const auto* allocation = trace_->allocation(op)) {
      put(",\"args\":{{\"action\":\"{}\",\"address\":{},\"bytes\":{}", to_string(allocation->action),
          allocation->address, allocation->bytes);
      if (allocation->requested) put(",\"requested bytes\":{}", *allocation->requested);
      if (allocation->stream) named_lane("stream", *allocation->stream);
      put("}}");
    } else if (const auto* range = trace_->range(op); range != nullptr && range->sequence_number) {
      // As PyTorch's profiler writes them.
      put(",\"args\":{{\"Sequence number\":{}", *range->sequence_number);
      if (range->forward_thread) put(",\"Fwd thread id\":{}", *range->forward_thread);
      put("}}");
    } else if (const auto* note = trace_->note(op)) {
      put(",\"args\":{{");
      note_arguments(*note, "");
      put("}}");
    }
  }

  void note_arguments(const trace::Note& note, std::string_view separator) {
    const auto key = [&](std::string_view name) { put("{}\"{}\":", std::exchange(separator, ","), name); };
    if (note.payload) {
      key("payload");
      // JSON has no word for what is no number.
      const bool is_finite =
          note.payload->type != trace::NumberType::kDouble || std::isfinite(std::bit_cast<double>(note.payload->bits));
      const std::string_view quote = is_finite ? "" : "\"";
      put("{}{}{}", quote, to_string(*note.payload), quote);
    }
    if (note.category) {
      key("category");
      text(trace_->text(*note.category));
    }
    if (note.is_open) {
      key("open");
      put("true");
    }
    if (note.external) {
      key("External id");
      put("{},\"External kind\":\"{}\"", note.external->id, to_string(note.external->kind));
    }
  }

  void collective_arguments(const trace::CollectiveDetail& collective) {
    put(",\"Collective name\":");
    text(trace_->text(collective.name));
    put(",\"dtype\":");
    text(trace_->text(collective.dtype));
    put(",\"In msg nelems\":{},\"Out msg nelems\":{},\"Group size\":{}", collective.in_elements,
        collective.out_elements, collective.group_size);
    put(",\"Process Group Name\":");
    text(trace_->text(collective.group));
    if (collective.sequence) put(",\"Seq\":{}", *collective.sequence);
    if (collective.channels > 0) put(",\"channels\":{}", collective.channels);
    if (collective.in_buffer) put(",\"In buffer\":{}", *collective.in_buffer);
    if (collective.out_buffer) put(",\"Out buffer\":{}", *collective.out_buffer);
    if (collective.part_alignment > 0) put(",\"parts begin at multiples of\":{}", collective.part_alignment);
    if (collective.own_part_alignment > 0)
      put(",\"own part begins at a multiple of\":{}", collective.own_part_alignment);
  }

  void named_lane(std::string_view key, trace::LaneId lane) {
    put(",\"{}\":", key);
    text(trace::lane_name(*trace_, lane));
  }

  std::ostream& out_;
  fmt::memory_buffer buffer_;
  bool first_event_ = true;
  std::size_t next_process_ = 1;
  std::size_t next_track_ = 1;
  std::size_t arrows_ = 0;

  // Of the run being written.
  const trace::Trace* trace_ = nullptr;
  Nanoseconds offset_ = 0;
  std::size_t first_process_ = 0;
  std::size_t first_track_ = 0;
};

}  // namespace

void write_chrome_trace(std::ostream& out, std::span<const ChromeRun> runs) {
  Nanoseconds latest = 0;
  for (const ChromeRun& run : runs) latest = std::max(latest, run.align);
  Writer writer(out);
  writer.open();
  for (const ChromeRun& run : runs) {
    assert(run.trace != nullptr);
    writer.run(run, latest - run.align);
  }
  writer.close();
}

}  // namespace interlace::report
