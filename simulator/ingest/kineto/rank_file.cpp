#include "simulator/ingest/kineto/rank_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "simulator/ingest/clock.hpp"
#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/kineto/document.hpp"
#include "simulator/ingest/kineto/flaws.hpp"

namespace interlace::ingest::kineto {

namespace {

std::string place_of(const std::filesystem::path& file, const Tally& tally) {
  return fmt::format("{}: byte {}", file.string(), tally.first_byte);
}

void count(const DiagnosticKind& kind, const Tally& tally, RankFile& rank_file) {
  rank_file.diagnostics.count(kind, place_of(rank_file.file, tally), tally.count);
}

/// Categories of device work of other accelerators: leaving them out loses part of what happened.
bool is_foreign_work(std::string_view category) {
  return category.starts_with("mtia_") || category.starts_with("xpu_") || category.starts_with("hpu_") ||
         category.starts_with("privateuse1_") || category.starts_with("glow_");
}

void count_ignored(const std::string& category, const Tally& tally, RankFile& rank_file) {
  const DiagnosticKind& kind = is_foreign_work(category) ? kForeignWork : kIgnoredCategory;
  // A file may name categories without end; only so many are told apart.
  static constexpr std::size_t kMostCategories = 64;
  static constexpr std::size_t kLongestCategory = 48;
  std::string code(kind.code);
  if (rank_file.diagnostics.entries().size() < kMostCategories) {
    code = fmt::format("{}.{}", kind.code, category.substr(0, kLongestCategory));
    std::ranges::replace(code, ' ', '_');
  }
  rank_file.diagnostics.add({std::move(code), kind.severity, std::string(kind.meaning), std::string(kind.advice),
                             tally.count, place_of(rank_file.file, tally)});
}

/// Names the format of a JSON object without traceEvents, by its fields.
[[noreturn]] void refuse(const Document& document, const std::filesystem::path& file) {
  const auto has = [&](std::string_view field) { return document.fields.contains(field); };
  std::string_view format;
  if (has("nodes") && has("schema") && has("start_ts"))
    format = "a PyTorch execution trace (the source of Chakra traces)";
  if (has("workload_graph")) format = "a Chakra execution trace as JSON";
  if (has("interlace_schedule")) format = "a schedule, not a recording";
  if (!format.empty()) {
    throw Error(kUnsupportedFormat, file.string(), fmt::format("this seems to be {}", format),
                "name the profiler's own trace (*.pt.trace.json) of the same run");
  }
  std::vector<std::string_view> fields;
  for (const auto& [name, value] : document.fields) fields.push_back(name);
  const std::string held = fields.empty() ? "it is empty" : fmt::format("its fields are: {}", fmt::join(fields, ", "));
  throw Error(kNotATrace, file.string(), fmt::format("JSON without a list traceEvents; {}", held),
              "name the JSON that torch.profiler's export_chrome_trace or tensorboard_trace_handler wrote");
}

/// What report::write_chrome_trace() writes.
[[noreturn]] void refuse_timeline(const std::filesystem::path& file) {
  throw Error(
      kUnsupportedFormat, file.string(),
      "this is a timeline that Interlace wrote for Perfetto, which holds too little to be read as a recording",
      "name the .ilt file of the same trace: predict --out writes one beside it, and convert -o FILE.ilt one of "
      "recordings");
}

template <class Event>
void widen(const std::vector<Event>& events, Nanoseconds base, std::optional<Interval>& window) {
  for (const Event& event : events) {
    const auto start = on_clock(base, event.span.start, event.span.duration);
    if (!start) continue;
    const Interval span{*start, *start + std::max<Nanoseconds>(0, event.span.duration)};
    window = window ? Interval{std::min(window->begin, span.begin), std::max(window->end, span.end)} : span;
  }
}

/// Device work with these times was never timed; in a file that has a base time, zero may read as long ago.
bool lacks_times(const Span& span, std::optional<Nanoseconds> first_on_host) {
  // More than any clock of a device is off its host's.
  constexpr Nanoseconds kLongBefore = 10'000 * kMillisecond;
  if (span.start == 0 && span.duration == 0) return true;
  return first_on_host && *first_on_host - span.start > kLongBefore;
}

/// Of those with a time: one at zero may lack it, too, and tells nothing.
std::optional<Nanoseconds> first_on_host(const RankFile& rank_file) {
  std::optional<Nanoseconds> first;
  const auto see = [&](const auto& events) {
    for (const auto& event : events) {
      if (event.span.start != 0) first = std::min(first.value_or(event.span.start), event.span.start);
    }
  };
  for (const EventTable& slice : rank_file.slices) {
    see(slice.calls);
    see(slice.ranges);
  }
  return first;
}

/// Kineto keeps a profile's device records in buffers that the next profile takes: exported after that, all of them
/// read zero. Single ones do where the driver gave no times.
void drop_lost_times(RankFile& rank_file) {
  std::size_t work = 0;
  std::size_t timed = 0;
  const auto add = [&](const auto& events) {
    work += events.size();
    timed += static_cast<std::size_t>(std::ranges::count_if(
        events, [](const auto& event) { return event.span.start != 0 || event.span.duration != 0; }));
  };
  for (const EventTable& slice : rank_file.slices) {
    add(slice.kernels);
    add(slice.copies);
  }
  if (work > 0 && timed == 0) {
    throw Error(kLostTimes, rank_file.file.string(), fmt::format("all {} device operations are at time 0", work),
                "record again, and export each profile before the next one starts");
  }
  const auto first = first_on_host(rank_file);
  std::size_t dropped = 0;
  const auto drop = [&](auto& events) {
    dropped += std::erase_if(events, [&](const auto& event) { return lacks_times(event.span, first); });
  };
  for (EventTable& slice : rank_file.slices) {
    drop(slice.kernels);
    drop(slice.copies);
  }
  rank_file.diagnostics.count(kUntimedWork, rank_file.file.string(), static_cast<std::int64_t>(dropped));
}

}  // namespace

RankFile decode_rank_file(std::string_view text, const std::filesystem::path& file) {
  Document document = read_document(text, file);
  if (document.fields.contains("interlace_timeline")) refuse_timeline(file);
  if (!document.has_events) refuse(document, file);

  RankFile rank_file;
  rank_file.file = file;
  rank_file.header = read_header(document.fields, file, rank_file.diagnostics);
  rank_file.slices = std::move(document.slices);
  if (document.trailing_bytes > 0) {
    rank_file.diagnostics.count(kTrailingBytes, file.string(), static_cast<std::int64_t>(document.trailing_bytes));
  }

  bool has_annotation = false;
  bool has_content = false;
  const Nanoseconds base = rank_file.header.base_time;
  drop_lost_times(rank_file);
  for (const EventTable& slice : rank_file.slices) {
    widen(slice.kernels, base, rank_file.window);
    widen(slice.copies, base, rank_file.window);
    widen(slice.calls, base, rank_file.window);
    widen(slice.ranges, base, rank_file.window);
    has_annotation = has_annotation || std::ranges::any_of(slice.ranges, [](const RangeEvent& range) {
                       return range.detail.kind == trace::RangeKind::kAnnotation;
                     });
    has_content = has_content || !slice.kernels.empty() || !slice.calls.empty() || !slice.ranges.empty() ||
                  !slice.copies.empty() || !slice.allocations.empty();
    count(kMalformedEvent, slice.malformed, rank_file);
    count(kRepairedEvent, slice.repaired, rank_file);
    count(kUnreadableEvent, slice.unreadable, rank_file);
    count(kNamedLane, slice.named_lanes, rank_file);
    for (const auto& [category, tally] : slice.ignored) count_ignored(category, tally, rank_file);
  }
  if (!has_content) {
    throw Error(kNotATrace, file.string(),
                "traceEvents holds no event of the PyTorch profiler (no kernel, CUDA call, operator or annotation)",
                "it may be another program's Chrome trace, or the profiler was not active");
  }
  if (!has_annotation) rank_file.diagnostics.count(kNoAnnotations, file.string());
  return rank_file;
}

}  // namespace interlace::ingest::kineto
