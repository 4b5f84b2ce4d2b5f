#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string_view>

#include "simulator/report/diagnostics_table.hpp"
#include "simulator/report/info_report.hpp"

namespace interlace::report {

namespace {

constexpr std::size_t kUnderTitle = 2;  // columns that what stands there is indented by
constexpr std::size_t kMostPlaces = 8;
constexpr Nanoseconds kLeastShown = 5 * kMicrosecond;  // less reads as 0.00 ms

/// What figures "a step" are of.
std::string extent(const InfoReport& info) {
  const std::string whole = "over the whole recording";
  if (std::ranges::all_of(info.ranks, has_steps)) return "a step";
  return std::ranges::any_of(info.ranks, has_steps) ? "a step; of ranks without steps " + whole : whole;
}

/// "H200, 132 SMs" of "NVIDIA H200, 132 SMs".
std::string without_vendor(std::string_view device) {
  constexpr std::string_view kVendor = "NVIDIA ";
  if (device.starts_with(kVendor)) device.remove_prefix(kVendor.size());
  return std::string(device);
}

/// "stream 20" of "stream 20 (non-blocking)".
std::string without_remark(std::string_view stream) {
  const std::size_t remark = stream.rfind(" (");
  return std::string(stream.ends_with(')') ? stream.substr(0, remark) : stream);
}

class InfoWriter {
 public:
  InfoWriter(std::ostream& out, const TextStyle& style) : out_(out), style_(style) {}

  void ranks(const InfoReport& info) {
    TextTable table({{"rank"},
                     {"device", Align::kLeft, Cut::kMiddle, 30, without_vendor},
                     {"step ms", Align::kRight},
                     {"steps", Align::kRight},
                     {"busy", Align::kRight},
                     {"comm ms", Align::kRight},
                     {"exposed", Align::kRight},
                     {"file", Align::kLeft, Cut::kFront, 30}});
    for (const RankInfo& one : info.ranks) {
      const trace::Rank& rank = one.rank;
      const std::string number =
          rank.world_size ? fmt::format("{} of {}", rank.number, *rank.world_size) : std::to_string(rank.number);
      const bool known = has_steps(one);
      table.add({number, rank.devices.empty() ? "unknown" : device_text(rank.devices.front()),
                 known ? milliseconds(one.overlap.step_ns) : "-", known ? std::to_string(one.window.steps) : "-",
                 one.overlap.busy_ratio() ? percent(*one.overlap.busy_ratio()) : "-",
                 milliseconds(one.overlap.communication_ns), milliseconds(one.overlap.exposed_communication_ns),
                 rank.source});
    }
    print("ranks", table);
    const bool alike = std::ranges::all_of(
        info.ranks, [&](const RankInfo& one) { return steps_text(one) == steps_text(info.ranks.front()); });
    for (const RankInfo& one : info.ranks) {
      if (alike && info.ranks.size() > 1) {
        line("all ranks: " + steps_text(one));
        break;
      }
      line(fmt::format("rank {}: {}", one.rank.number, steps_text(one)));
    }
    for (const RankInfo& one : info.ranks) {
      const trace::Rank& rank = one.rank;
      if (rank.recorded_as.empty() || rank.recorded_as == rank.source) continue;
      line(fmt::format("rank {} was recorded as {}", rank.number, rank.recorded_as));
    }
    if (!info.ranks.empty()) line("written by " + info.ranks.front().rank.producer);
    out_ << '\n';
  }

  void notes(const analysis::NoteTally& notes) {
    if (notes.payloads > 0) line(fmt::format("ranges and marks with a number: {}", thousands(notes.payloads)));
    if (!notes.categories.empty()) {
      std::string text;
      for (const auto& [name, count] : notes.categories)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, thousands(count));
      line("categories of ranges and marks: " + text);
    }
    if (notes.open_ranges > 0) line(fmt::format("ranges without an end: {}", thousands(notes.open_ranges)));
    if (notes.externals > 0) line(fmt::format("calls with an id of the program's own: {}", thousands(notes.externals)));
  }

  void operations(const InfoReport& info) {
    TextTable table({{"kind"}, {"count", Align::kRight}});
    for (std::size_t i = 0; i < info.operations.size(); ++i) {
      if (info.operations[i] == 0) continue;
      table.add({std::string(to_string(static_cast<trace::OperationKind>(i))), thousands(info.operations[i])});
    }
    print(fmt::format("operations in {} ms", milliseconds(info.length)), table);
    notes(info.notes);
    out_ << '\n';
  }

  void streams(const InfoReport& info) {
    TextTable table({{"rank", Align::kRight},
                     {"stream", Align::kLeft, Cut::kMiddle, 24, without_remark},
                     {"role"},
                     {"priority", Align::kRight},
                     {"operations", Align::kRight},
                     {"busy ms", Align::kRight},
                     {"compute", Align::kRight},
                     {"comm", Align::kRight},
                     {"copy", Align::kRight}});
    for (const StreamInfo& stream : info.streams) {
      const auto of_class = [&](analysis::DeviceClass kind) {
        return milliseconds(stream.use.of_class_ns[static_cast<std::size_t>(kind)]);
      };
      table.add({std::to_string(stream.rank), stream.name, std::string(to_string(stream.use.role)),
                 stream.priority ? std::to_string(*stream.priority) : "-", thousands(stream.use.operations),
                 milliseconds(stream.use.busy_ns), of_class(analysis::DeviceClass::kCompute),
                 of_class(analysis::DeviceClass::kCommunication), of_class(analysis::DeviceClass::kCopy)});
    }
    print("streams, " + extent(info), table);
    out_ << '\n';
  }

  void collectives(const InfoReport& info) {
    if (info.collectives.empty()) return;
    TextTable table({{"collective", Align::kLeft, Cut::kMiddle, 28},
                     {"dtype"},
                     {"ranks", Align::kRight},
                     {"count", Align::kRight},
                     {"channels", Align::kRight},
                     {"sent a call", Align::kRight},
                     {"received", Align::kRight},
                     {"mean ms", Align::kRight},
                     {"total ms", Align::kRight}});
    for (const analysis::CollectiveTally& tally : info.collectives) {
      const bool told = tally.in_bytes > 0 || tally.out_bytes > 0;
      const auto sent = [&](Bytes bytes) { return told ? bytes_text(bytes / tally.count) : std::string("-"); };
      table.add({tally.name, tally.dtype, tally.group_size == 0 ? "-" : std::to_string(tally.group_size),
                 thousands(tally.count), tally.most_channels == 0 ? "-" : std::to_string(tally.most_channels),
                 sent(tally.in_bytes), sent(tally.out_bytes), milliseconds(tally.total_ns / tally.count),
                 milliseconds(tally.total_ns)});
    }
    print("collectives, all ranks", table);
    out_ << '\n';
  }

  void kernels(const InfoReport& info) {
    if (info.kernels.empty()) return;
    TextTable table({{"kernel", Align::kLeft, Cut::kMiddle, 50},
                     {"count", Align::kRight},
                     {"mean us", Align::kRight},
                     {"min", Align::kRight},
                     {"max", Align::kRight},
                     {"total ms", Align::kRight}});
    const auto us = [](Nanoseconds time) {
      return fmt::format("{:.1f}", static_cast<double>(time) / static_cast<double>(kMicrosecond));
    };
    for (const analysis::KernelTally& tally : info.kernels) {
      table.add({short_kernel_name(tally.name), thousands(tally.count), us(tally.total_ns / tally.count),
                 us(tally.shortest_ns), us(tally.longest_ns), milliseconds(tally.total_ns)});
    }
    print("top kernels, all ranks", table);
    out_ << '\n';
  }

  void waiting(const InfoReport& info) {
    const bool all = std::ranges::all_of(info.ranks, has_steps);
    const std::string a_step = all ? " a step" : "";
    const std::string of_what = ", mean over ranks" + (all ? "" : ", " + extent(info));
    TextTable blocked({{"host blocks in", Align::kLeft, Cut::kMiddle, 44},
                       {"by"},
                       {"calls" + a_step, Align::kRight},
                       {"ms" + a_step, Align::kRight}});
    for (std::size_t i = 0; i < std::min(kMostPlaces, info.host_blocks.size()); ++i) {
      if (info.host_blocks[i].blocked_ns < kLeastShown) break;
      const analysis::HostBlock& block = info.host_blocks[i];
      blocked.add({place(block.stage), std::string(to_string(block.kind)), fmt::format("{:.1f}", block.calls),
                   milliseconds(block.blocked_ns)});
    }
    if (!info.host_blocks.empty() && info.host_blocks.front().blocked_ns >= kLeastShown) {
      print("what the host waits for" + of_what, blocked);
      if (const std::string which = host_steps_text(info); !which.empty()) line(which);
      out_ << '\n';
    }
    TextTable idle(
        {{"device idles because"}, {"next launch in", Align::kLeft, Cut::kMiddle, 44}, {"ms" + a_step, Align::kRight}});
    for (std::size_t i = 0; i < std::min(kMostPlaces, info.idle.size()); ++i) {
      if (info.idle[i].idle_ns < kLeastShown) break;
      idle.add(
          {std::string(to_string(info.idle[i].cause)), place(info.idle[i].stage), milliseconds(info.idle[i].idle_ns)});
    }
    if (!info.idle.empty() && info.idle.front().idle_ns >= kLeastShown) {
      print("why the device idles" + of_what, idle);
      out_ << '\n';
    }
  }

  void memory(const InfoReport& info) {
    if (info.memory.empty()) return;
    TextTable peaks({{"rank", Align::kRight},
                     {"events", Align::kRight},
                     {"joined", Align::kRight},
                     {"allocated peak", Align::kRight},
                     {"active peak", Align::kRight},
                     {"reserved peak", Align::kRight},
                     {"settings"}});
    const auto known = [](const std::optional<Bytes>& bytes) { return bytes ? bytes_text(*bytes) : "-"; };
    for (const MemoryInfo& one : info.memory) {
      peaks.add({std::to_string(one.rank), thousands(one.use.events), thousands(one.use.joined),
                 known(one.use.allocated_peak), known(one.use.active_peak), known(one.use.reserved_peak),
                 one.use.settings.empty() ? "-" : shortened(one.use.settings, 22)});
    }
    print("memory of the allocator", peaks);
    out_ << '\n';
    TextTable streams({{"rank", Align::kRight},
                       {"stream", Align::kLeft, Cut::kMiddle, 24, without_remark},
                       {"handle", Align::kRight},
                       {"segments", Align::kRight},
                       {"reserved", Align::kRight},
                       {"allocated", Align::kRight},
                       {"pending free", Align::kRight}});
    bool has_streams = false;
    for (const MemoryInfo& one : info.memory) {
      for (std::size_t i = 0; i < one.use.streams.size(); ++i) {
        const analysis::StreamMemory& stream = one.use.streams[i];
        streams.add({std::to_string(one.rank), one.stream_names[i].empty() ? "(not known)" : one.stream_names[i],
                     fmt::format("{:#x}", stream.handle), thousands(stream.segments), bytes_text(stream.reserved),
                     bytes_text(stream.allocated), bytes_text(stream.pending)});
        has_streams = true;
      }
    }
    if (!has_streams) return;
    print("memory by stream, when it was recorded last", streams);
    out_ << '\n';
  }

 private:
  static std::string device_text(const trace::Device& device) {
    std::string text = device.name.empty() ? "unknown" : device.name;
    if (device.sm_count > 0) text += fmt::format(", {} SMs", device.sm_count);
    return text;
  }
  /// Where a step begins by the annotations of a rank, what says so, and which steps figures are of.
  static std::string steps_text(const RankInfo& one) {
    const std::string whole = fmt::format("figures are of the whole {} ms", milliseconds(one.window.span.length()));
    if (!one.steps) return "no outermost annotation repeats; " + whole;
    const std::string_view marker = one.steps->marker;
    const std::string_view reason = reason_text(one.steps->evidence);
    if (one.steps->count() == 1) return fmt::format("one step only, the \"{}\" ({}); {}", marker, reason, whole);
    const auto all = static_cast<std::int64_t>(one.steps->count()) - 1;
    const std::string steady = one.window.steps == all
                                   ? ""
                                   : fmt::format(
                                         "; figures are of {} of {}, the longest stretch in which none took "
                                         "twice the median",
                                         one.window.steps, counted(all, "step"));
    const std::string end =
        one.steps->ended_by == marker ? "" : fmt::format("; on the device \"{}\" ends them", one.steps->ended_by);
    return fmt::format("step marks are the annotations \"{}\" ({} of them, {}){}{}", marker, one.steps->count(), reason,
                       end, steady);
  }
  /// Which steps of the host what it waits for is of, where these are not all.
  static std::string host_steps_text(const InfoReport& info) {
    if (info.host_ahead) return "the host got ahead of the device to the end: it waits for more in a longer recording";
    const auto one = std::ranges::find_if(info.ranks, has_steps);
    if (one == info.ranks.end()) return {};
    const auto all = static_cast<std::int64_t>(one->steps->count()) - 1;
    if (one->host_window.steps == all) return {};
    return fmt::format("of {} of {} of the host, in which it neither got ahead of the device nor stalled",
                       one->host_window.steps, counted(all, "step"));
  }
  static std::string_view reason_text(analysis::StepEvidence evidence) {
    switch (evidence) {
      case analysis::StepEvidence::kName: return "known by name";
      case analysis::StepEvidence::kOptimizer: return "as many as of the optimizer, and none of those launches more";
      case analysis::StepEvidence::kUsualCount: return "as many as of most, and none of those launches more";
    }
    return "";
  }
  static std::string place(const std::string& stage) { return stage.empty() ? "(no annotation)" : stage; }

  void print(const std::string& title, const TextTable& table) {
    out_ << coloured(style_, Colour::kBold, title) << '\n' << table.text(style_, kUnderTitle);
  }
  void line(const std::string& text) {
    for (const std::string& one : wrapped(text, style_.width - kUnderTitle))
      out_ << std::string(kUnderTitle, ' ') << one << '\n';
  }

  std::ostream& out_;
  const TextStyle& style_;
};

}  // namespace

void write_info_table(std::ostream& out, const InfoReport& info, const TextStyle& style) {
  InfoWriter writer(out, style);
  writer.ranks(info);
  writer.operations(info);
  writer.streams(info);
  writer.collectives(info);
  writer.kernels(info);
  writer.waiting(info);
  writer.memory(info);
  write_diagnostics(out, info.diagnostics, style);
}

}  // namespace interlace::report
