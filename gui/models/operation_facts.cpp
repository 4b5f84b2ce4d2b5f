#include "gui/models/operation_facts.hpp"

#include <fmt/format.h>

#include "gui/timeline/names.hpp"
#include "gui/timeline/ticks.hpp"
#include "simulator/report/text.hpp"

namespace interlace::gui {

namespace {

using trace::OperationId;
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string lane_text(const trace::Trace& trace, OperationId op) {
  const trace::Lane& lane = trace.lane(trace.lane_of(op));
  const std::string word = lane.kind == trace::LaneKind::kStream ? "stream" : "thread";
  const std::string number = fmt::format("{} {}", word, lane.number);
  if (lane.name.empty() || lane.name == number) return number;
  // "thread 2286 (pt_autograd_0)" of the profiler says both.
  return lane.name.starts_with(number + " (") ? lane.name : fmt::format("{} ({})", number, lane.name);
}

void add_kernel(const trace::KernelDetail& kernel, Facts& facts) {
  const auto dimensions = [](const std::array<std::int32_t, 3>& of) {
    return fmt::format("{} x {} x {}", of[0], of[1], of[2]);
  };
  facts.emplace_back("grid",
                     fmt::format("{} ({})", dimensions(kernel.grid), report::counted(kernel.blocks(), "block")));
  facts.emplace_back(
      "block", fmt::format("{} ({})", dimensions(kernel.block), report::counted(kernel.threads_per_block(), "thread")));
  if (kernel.registers_per_thread > 0)
    facts.emplace_back("registers", fmt::format("{} a thread", kernel.registers_per_thread));
  facts.emplace_back("shared memory", report::bytes_text(kernel.shared_memory) + " a block");
  if (kernel.blocks_per_sm_limit)
    facts.emplace_back("blocks per SM", fmt::format("at most {}", *kernel.blocks_per_sm_limit));
  if (kernel.priority) facts.emplace_back("priority", fmt::format("{}", *kernel.priority));
  if (kernel.graph_node) facts.emplace_back("graph node", fmt::format("{}", *kernel.graph_node));
}

void add_collective(const trace::Trace& trace, const trace::CollectiveDetail& collective, Facts& facts) {
  facts.emplace_back("collective",
                     fmt::format("{} ({})", trace.text(collective.name), trace::to_string(collective.function)));
  const auto amount = [&](std::int64_t elements) {
    std::string text = report::counted(elements, "element");
    if (collective.element_bytes > 0) text += ", " + report::bytes_text(elements * collective.element_bytes);
    return text;
  };
  facts.emplace_back("type", std::string(trace.text(collective.dtype)));
  facts.emplace_back("sends", amount(collective.in_elements));
  facts.emplace_back("receives", amount(collective.out_elements));
  facts.emplace_back(
      "group", fmt::format("{} ({})", trace.text(collective.group), report::counted(collective.group_size, "rank")));
  if (collective.sequence) facts.emplace_back("number in group", fmt::format("{}", *collective.sequence));
  if (collective.channels > 0) facts.emplace_back("channels", fmt::format("{}", collective.channels));
  if (collective.in_buffer) facts.emplace_back("sends from", fmt::format("{:#x}", *collective.in_buffer));
  if (collective.out_buffer) facts.emplace_back("receives at", fmt::format("{:#x}", *collective.out_buffer));
  if (collective.part_alignment > 0) {
    facts.emplace_back("parts begin at", fmt::format("multiples of {} bytes", collective.part_alignment));
  }
}

void add_copy(const trace::CopyDetail& copy, Nanoseconds duration, Facts& facts) {
  facts.emplace_back("bytes", report::bytes_text(copy.bytes));
  if (duration > 0 && copy.bytes > 0) {
    facts.emplace_back("rate",
                       fmt::format("{:.2f} GB/s", static_cast<double>(copy.bytes) / static_cast<double>(duration)));
  }
  facts.emplace_back("from - to",
                     fmt::format("{} - {}{}", trace::to_string(copy.source), trace::to_string(copy.destination),
                                 copy.peer ? ", between devices" : ""));
}

void add_sync(const trace::Trace& trace, const trace::SyncDetail& sync, Facts& facts) {
  facts.emplace_back("synchronises", std::string(trace::to_string(sync.kind)));
  if (sync.stream) facts.emplace_back("stream", fmt::format("{}", trace.lane(*sync.stream).number));
  if (sync.event) facts.emplace_back("event", fmt::format("{}", *sync.event));
  if (sync.record_stream)
    facts.emplace_back("recorded on", fmt::format("stream {}", trace.lane(*sync.record_stream).number));
}

void add_note(const trace::Trace& trace, const trace::Note& note, Facts& facts) {
  if (note.payload) facts.emplace_back("number", trace::to_string(*note.payload));
  if (note.category) facts.emplace_back("category", std::string(trace.text(*note.category)));
  if (note.is_open) facts.emplace_back("end", "not recorded");
  if (note.external)
    facts.emplace_back("external id", fmt::format("{} ({})", note.external->id, trace::to_string(note.external->kind)));
}

void add_details(const trace::Trace& trace, OperationId op, Facts& facts) {
  if (const auto* kernel = trace.kernel(op)) add_kernel(*kernel, facts);
  if (const auto* collective = trace.collective(op)) add_collective(trace, *collective, facts);
  if (const auto* copy = trace.copy(op)) add_copy(*copy, trace.duration(op), facts);
  if (const auto* sync = trace.sync(op)) add_sync(trace, *sync, facts);
  if (const auto* range = trace.range(op)) {
    facts.emplace_back("range", std::string(trace::to_string(range->kind)));
    if (range->sequence_number) facts.emplace_back("autograd number", fmt::format("{}", *range->sequence_number));
  }
  if (const auto* note = trace.note(op)) add_note(trace, *note, facts);
  if (const auto* allocation = trace.allocation(op)) {
    facts.emplace_back("allocator", std::string(trace::to_string(allocation->action)));
    facts.emplace_back("bytes", report::bytes_text(allocation->bytes));
    if (allocation->total_allocated)
      facts.emplace_back("allocated then", report::bytes_text(*allocation->total_allocated));
    if (allocation->total_reserved)
      facts.emplace_back("reserved then", report::bytes_text(*allocation->total_reserved));
  }
}

void add_dependencies(const trace::Trace& trace, OperationId op, const std::vector<Dependency>& dependencies,
                      Facts& facts) {
  constexpr std::size_t kMost = 12;
  std::size_t told = 0;
  for (const Dependency& dependency : dependencies) {
    if (++told > kMost) {
      facts.emplace_back("...", fmt::format("{} more", dependencies.size() - kMost));
      return;
    }
    const bool incoming = dependency.to == op;
    const OperationId far = incoming ? dependency.from : dependency.to;
    const std::string text =
        fmt::format("{}, rank {} {}, {}", line_name(trace, far), trace.ranks()[trace.rank_of(far).index()].number,
                    lane_text(trace, far), duration_text(trace.duration(far)));
    facts.emplace_back(fmt::format("{} {}", to_string(dependency.kind), incoming ? "<-" : "->"), text);
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_of_operation(const Run& run, OperationId op, Nanoseconds anchor,
                                                                    const std::vector<Dependency>& dependencies) {
  const trace::Trace& trace = run.trace();
  const Tags& tags = run.scene().tags();
  Facts facts;
  facts.emplace_back("name", std::string(trace.name(op)));
  facts.emplace_back("kind", std::string(trace::to_string(trace.kind(op))));
  facts.emplace_back("duration", duration_text(trace.duration(op)));
  facts.emplace_back("start",
                     fmt::format("{} ({} ns of the trace)", duration_text(trace.start(op) - anchor), trace.start(op)));
  facts.emplace_back("end", duration_text(trace.end(op) - anchor));
  if (const std::uint8_t stage = tags.stage_of(op); stage != 0) facts.emplace_back("stage", tags.stages()[stage]);
  if (const auto batch = tags.batch_of(op)) facts.emplace_back("batch", fmt::format("{}", *batch));
  facts.emplace_back("rank", fmt::format("{}", trace.ranks()[trace.rank_of(op).index()].number));
  facts.emplace_back("lane", lane_text(trace, op));
  if (trace::is_device_work(trace.kind(op))) {
    if (const auto launch = trace.launch_of(op)) {
      facts.emplace_back("after its launch", duration_text(trace.start(op) - trace.start(*launch)));
    }
  }
  add_details(trace, op, facts);
  add_dependencies(trace, op, dependencies, facts);
  return facts;
}

std::string change_text(const trace::Trace& trace, OperationId op, Nanoseconds anchor, const trace::Trace& other,
                        OperationId other_op, Nanoseconds other_anchor) {
  const Nanoseconds start = (other.start(other_op) - other_anchor) - (trace.start(op) - anchor);
  const Nanoseconds longer = other.duration(other_op) - trace.duration(op);
  const auto part = [](Nanoseconds change, std::string_view more, std::string_view less) {
    if (change == 0) return std::string("as long");
    return fmt::format("{} {}", duration_text(change < 0 ? -change : change), change > 0 ? more : less);
  };
  return fmt::format("starts {}, lasts {}", start == 0 ? "at the same time" : part(start, "later", "earlier"),
                     part(longer, "longer", "shorter"));
}

std::string headline_of_operation(const Run& run, OperationId op) {
  const Tags& tags = run.scene().tags();
  std::string text = fmt::format("{}   {}", line_name(run.trace(), op), duration_text(run.trace().duration(op)));
  if (const std::uint8_t stage = tags.stage_of(op); stage != 0) text += "   " + tags.stages()[stage];
  if (const auto batch = tags.batch_of(op)) text += fmt::format("   batch {}", *batch);
  return text;
}

}  // namespace interlace::gui
