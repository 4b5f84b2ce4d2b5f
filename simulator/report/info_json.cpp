#include <ostream>

#include "simulator/report/info_report.hpp"
#include "simulator/report/json_text.hpp"

namespace interlace::report {

namespace {

Json entry_of(const trace::Device& device) {
  return Json{{"ordinal", device.ordinal},
              {"name", device.name},
              {"compute_capability", std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor)},
              {"sm_count", device.sm_count},
              {"memory_bytes", device.memory}};
}

Json entry_of(const RankInfo& one) {
  Json devices = Json::array();
  for (const trace::Device& device : one.rank.devices) devices.push_back(entry_of(device));
  Json steps = nullptr;
  if (one.steps)
    steps = Json{{"marker", one.steps->marker},
                 {"told_by", to_string(one.steps->evidence)},
                 {"ended_by", one.steps->ended_by},
                 {"host_begins_ns", one.steps->host},
                 {"device_begins_ns", one.steps->device}};
  return Json{
      {"rank", one.rank.number},
      {"world_size", or_null(one.rank.world_size)},
      {"file", one.rank.source},
      {"recorded_as", one.rank.recorded_as.empty() ? Json(nullptr) : Json(one.rank.recorded_as)},
      {"process_id", one.rank.process_id},
      {"producer", one.rank.producer},
      {"devices", std::move(devices)},
      {"steps", std::move(steps)},
      {"window", {{"begin_ns", one.window.span.begin}, {"end_ns", one.window.span.end}, {"steps", one.window.steps}}},
      {"host_window",
       {{"begin_ns", one.host_window.span.begin},
        {"end_ns", one.host_window.span.end},
        {"steps", one.host_window.steps}}},
      {"step_time_ns", has_steps(one) ? Json(one.overlap.step_ns) : Json(nullptr)},
      {"exposed_communication_ns", one.overlap.exposed_communication_ns},
      {"overlap", json_of(one.overlap)}};
}

Json entry_of(const StreamInfo& stream) {
  Json of_class;
  for (std::size_t i = 0; i < analysis::kDeviceClasses; ++i) {
    of_class[std::string(to_string(static_cast<analysis::DeviceClass>(i))) + "_ns"] = stream.use.of_class_ns[i];
  }
  return Json{{"rank", stream.rank},
              {"name", stream.name},
              {"role", to_string(stream.use.role)},
              {"priority", or_null(stream.priority)},
              {"operations", stream.use.operations},
              {"busy_ns", stream.use.busy_ns},
              {"busy_of_class", std::move(of_class)}};
}

Json entry_of(const analysis::CollectiveTally& tally) {
  return Json{{"function", to_string(tally.function)}, {"name", tally.name},         {"dtype", tally.dtype},
              {"group_size", tally.group_size},        {"count", tally.count},       {"in_bytes", tally.in_bytes},
              {"out_bytes", tally.out_bytes},          {"total_ns", tally.total_ns}, {"channels", tally.most_channels},
              {"with_buffers", tally.with_buffers}};
}

Json entry_of(const analysis::NoteTally& notes) {
  Json categories = Json::object();
  for (const auto& [name, count] : notes.categories) categories[name] = count;
  return Json{{"payloads", notes.payloads},
              {"categories", std::move(categories)},
              {"open_ranges", notes.open_ranges},
              {"external_ids", notes.externals}};
}

Json entry_of(const analysis::KernelTally& tally) {
  return Json{{"name", tally.name},
              {"count", tally.count},
              {"total_ns", tally.total_ns},
              {"shortest_ns", tally.shortest_ns},
              {"longest_ns", tally.longest_ns}};
}

Json entry_of(const analysis::HostBlock& block) {
  return Json{
      {"stage", block.stage}, {"by", to_string(block.kind)}, {"calls", block.calls}, {"blocked_ns", block.blocked_ns}};
}

Json entry_of(const analysis::IdleTime& idle) {
  return Json{{"cause", to_string(idle.cause)}, {"stage", idle.stage}, {"idle_ns", idle.idle_ns}};
}

Json entry_of(const MemoryInfo& one) {
  Json streams = Json::array();
  for (std::size_t i = 0; i < one.use.streams.size(); ++i) {
    const analysis::StreamMemory& stream = one.use.streams[i];
    streams.push_back(Json{{"handle", stream.handle},
                           {"stream", one.stream_names[i].empty() ? Json(nullptr) : Json(one.stream_names[i])},
                           {"segments", stream.segments},
                           {"reserved_bytes", stream.reserved},
                           {"allocated_bytes", stream.allocated},
                           {"pending_bytes", stream.pending}});
  }
  return Json{{"rank", one.rank},
              {"events", one.use.events},
              {"joined_events", one.use.joined},
              {"allocated_peak_bytes", or_null(one.use.allocated_peak)},
              {"active_peak_bytes", or_null(one.use.active_peak)},
              {"reserved_peak_bytes", or_null(one.use.reserved_peak)},
              {"settings", one.use.settings},
              {"streams", std::move(streams)}};
}

template <class T>
Json array_of(const std::vector<T>& rows) {
  Json all = Json::array();
  for (const T& row : rows) all.push_back(entry_of(row));
  return all;
}

}  // namespace

void write_info_json(std::ostream& out, const InfoReport& info) {
  Json operations;
  for (std::size_t i = 0; i < info.operations.size(); ++i) {
    operations[std::string(to_string(static_cast<trace::OperationKind>(i)))] = info.operations[i];
  }
  out << report::text_of(Json{{"length_ns", info.length},
                              {"ranks", array_of(info.ranks)},
                              {"operations", std::move(operations)},
                              {"streams", array_of(info.streams)},
                              {"collectives", array_of(info.collectives)},
                              {"kernels", array_of(info.kernels)},
                              {"host_blocks", array_of(info.host_blocks)},
                              {"host_ahead", info.host_ahead},
                              {"idle", array_of(info.idle)},
                              {"memory", array_of(info.memory)},
                              {"notes", entry_of(info.notes)},
                              {"diagnostics", json_of(info.diagnostics)}});
}

}  // namespace interlace::report
