#include "simulator/ingest/nsys/read_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/nsys/calls.hpp"
#include "simulator/ingest/nsys/database.hpp"
#include "simulator/ingest/nsys/device_work.hpp"
#include "simulator/ingest/nsys/errors.hpp"
#include "simulator/ingest/nsys/flaws.hpp"
#include "simulator/ingest/nsys/placement.hpp"
#include "simulator/ingest/nsys/ranges.hpp"
#include "simulator/ingest/nsys/session.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest::nsys {

namespace {

using namespace std::string_view_literals;

void check_is_export(const Database& database) {
  const bool is_export = std::ranges::any_of(std::array{kKernels, kCopies, kCalls, kRanges, "META_DATA_EXPORT"sv},
                                             [&](std::string_view table) { return database.has(table); });
  if (is_export) return;
  throw Error(kNotAnExport, database.file().string(), "an SQLite database that Nsight Systems did not export",
              "name what `nsys export --type sqlite` wrote, or another recording");
}

/// Tables of events have times. (Others describe the machine, or number texts.)
void count_unused(const Database& database, Diagnostics& diagnostics) {
  static constexpr std::array kUsed{kKernels, kCopies,  kMemsets,  kGraphs,           kCalls,     kRanges,
                                    kSyncs,   kRecords, kOverhead, kProfilerOverhead, kComplaints};
  for (const std::string& table : database.tables()) {
    if (std::ranges::find(kUsed, table) != kUsed.end()) continue;
    const std::vector<std::string> columns = database.columns_of(table);
    const auto has = [&](std::string_view name) { return std::ranges::find(columns, name) != columns.end(); };
    if (!has("start") && !has("timestamp")) continue;
    const std::int64_t rows = database.row_count(table);
    if (rows == 0) continue;
    const DiagnosticKind& kind = has("streamId") && has("end") ? kUnusedWork : kUnusedTable;
    diagnostics.add({fmt::format("{}.{}", kind.code, table), kind.severity, std::string(kind.meaning),
                     std::string(kind.advice), rows, database.file().string()});
  }
}

/// From the first start to the last end of each rank, on the recording's clock.
std::vector<std::optional<Interval>> windows_of(const trace::Trace& trace) {
  std::vector<std::optional<Interval>> windows(trace.ranks().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    const Interval span{trace.origin() + trace.start(op), trace.origin() + trace.end(op)};
    auto& window = windows[trace.rank_of(op).index()];
    window = window ? Interval{std::min(window->begin, span.begin), std::max(window->end, span.end)} : span;
  }
  return windows;
}

/// The device of each rank whose streams are all of one.
std::vector<std::optional<std::int64_t>> only_devices_of(const trace::Trace& trace) {
  std::vector<std::set<std::int64_t>> devices(trace.ranks().size());
  for (const trace::Lane& lane : trace.lanes()) {
    if (lane.kind == trace::LaneKind::kStream) devices[lane.rank.index()].insert(lane.process);
  }
  std::vector<std::optional<std::int64_t>> only(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].size() == 1) only[i] = *devices[i].begin();
  }
  return only;
}

std::vector<RankFacts> facts_of_ranks(const trace::Trace& trace, const Session& session,
                                      const std::filesystem::path& file) {
  std::vector<RankFacts> facts;
  const auto windows = windows_of(trace);
  const auto devices = only_devices_of(trace);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const trace::Rank& rank = trace.ranks()[i];
    // In messages of ranks that do not belong together the name of the one file tells nothing.
    const bool is_alone = windows.size() == 1;
    facts.push_back({.file = is_alone ? file.string() : fmt::format("{}: process {}", file.string(), rank.process_id),
                     .rank = session.rank,
                     .world_size = session.world_size,
                     .group_of_all = {},
                     .producer = rank.producer,
                     .host_name = rank.host_name,
                     .run_id = {},
                     .window = windows[i],
                     .device = devices[i],
                     .parts = {}});
  }
  return facts;
}

TraceFile read_database(const Database& database) {
  check_is_export(database);
  Diagnostics diagnostics;
  const Session session = read_session(database, diagnostics);
  trace::TraceBuilder builder;
  Placement placement(session, database.file().string(), builder, diagnostics);
  add_device_work(database, placement);
  add_calls(database, placement);
  add_ranges(database, placement);
  if (builder.size() == 0) {
    throw Error(kNothingRecorded, database.file().string(), "the export holds no CUDA call, GPU work or range of NVTX",
                "record with nsys profile --trace=cuda,nvtx");
  }
  count_unused(database, diagnostics);
  trace::Trace trace = std::move(builder).build(diagnostics);
  std::vector<RankFacts> facts = facts_of_ranks(trace, session, database.file());
  return {database.file(), std::move(trace), std::move(facts), std::move(diagnostics)};
}

}  // namespace

bool is_database(std::string_view content) { return content.starts_with("SQLite format 3\0"sv); }

TraceFile read_export(const std::filesystem::path& file) { return read_database(Database(file)); }

TraceFile read_export(std::string_view content, const std::filesystem::path& file) {
  return read_database(Database(content, file));
}

}  // namespace interlace::ingest::nsys
