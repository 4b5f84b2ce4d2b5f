#include <optional>

#include "simulator/base/whole_file.hpp"
#include "simulator/trace/append_trace.hpp"
#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/writer.hpp"

namespace interlace::trace {

namespace {

void write_definitions(const Trace& trace, IltWriter& writer) {
  for (const std::string& text : trace.strings()) writer.intern(text);
  for (const Rank& rank : trace.ranks()) writer.add_rank(rank);
  for (const Lane& lane : trace.lanes()) {
    const LaneId id = writer.lane(lane.kind, lane.rank, lane.process, lane.number);
    if (!lane.name.empty()) writer.name_lane(id, lane.name);
    if (lane.priority) writer.set_priority(id, *lane.priority);
    if (lane.handle) writer.set_handle(id, *lane.handle);
  }
}

void write_operation(const Trace& trace, OperationId op, const IltWriter::Common& common, IltWriter& writer) {
  switch (const OperationKind kind = trace.kind(op)) {
    case OperationKind::kKernel: writer.add_kernel(common, *trace.kernel(op)); return;
    case OperationKind::kCollective: {
      const CollectiveDetail* detail = trace.collective(op);
      writer.add_collective(common, *trace.kernel(op), detail == nullptr ? std::nullopt : std::optional(*detail));
      return;
    }
    case OperationKind::kCopy: writer.add_copy(common, *trace.copy(op)); return;
    case OperationKind::kMemset: writer.add_memset(common, *trace.copy(op)); return;
    case OperationKind::kHostCall:
    case OperationKind::kEventRecord:
    case OperationKind::kStreamWait:
    case OperationKind::kHostSync:
      if (const SyncDetail* detail = trace.sync(op)) {
        writer.add_sync(kind, common, *detail);
      } else {
        writer.add_host_call(common);
      }
      return;
    case OperationKind::kRange: writer.add_range(common, *trace.range(op)); return;
    case OperationKind::kDeviceRange: writer.add_device_range(common, *trace.range(op)); return;
    case OperationKind::kAllocation: writer.add_allocation(common, *trace.allocation(op)); return;
  }
}

}  // namespace

void write_ilt(const Trace& trace, const Diagnostics& diagnostics, std::ostream& out, std::string place,
               const IltWriter::Options& options) {
  IltWriter writer(out, std::move(place), options);
  write_definitions(trace, writer);
  writer.add_diagnostics(diagnostics);
  // The numbers stay small and near each other, which packs well.
  const auto correlations = launch_correlations(trace);
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const IltWriter::Common common{trace.lanes_of_operations()[i], trace.names()[i], trace.starts()[i] + trace.origin(),
                                   trace.durations()[i],           correlations[i],  trace.note({i})};
    write_operation(trace, {i}, common, writer);
  }
  // After the operations: where the end of the file is lost, no state is left that lost events have led to.
  writer.flush();
  for (AllocatorState state : trace.allocator_states()) {
    if (state.time) *state.time += trace.origin();
    writer.add_allocator_state(state);
  }
  writer.close();
}

void write_ilt(const Trace& trace, const Diagnostics& diagnostics, const std::filesystem::path& file) {
  WholeFile out(file);
  if (!out.is_open()) {
    throw Error(ilt::kCannotWrite, file.string(), "the file cannot be made", "check the folder and its permissions");
  }
  write_ilt(trace, diagnostics, out.stream(), file.string());
  if (!out.finish()) throw Error(ilt::kCannotWrite, file.string(), "writing failed", "check that the disk has room");
}

void write_ilt(const Trace& trace, const std::filesystem::path& file) { write_ilt(trace, Diagnostics(), file); }

}  // namespace interlace::trace
