#include "simulator/ingest/recorded_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "simulator/base/whole_file.hpp"
#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/format.hpp"
#include "simulator/ingest/memory_snapshot/as_rank.hpp"
#include "simulator/ingest/memory_snapshot/device_choice.hpp"
#include "simulator/ingest/memory_snapshot/flaws.hpp"
#include "simulator/ingest/nsys/read_export.hpp"
#include "simulator/trace/ilt/errors.hpp"
#include "simulator/trace/ilt/reader.hpp"

namespace interlace::ingest {

namespace {

/// Editors on Windows put one before UTF-8.
std::string_view without_byte_order_mark(std::string_view text) {
  static constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

void count_trailing(const FileBytes& bytes, const std::filesystem::path& file, Diagnostics& diagnostics) {
  if (bytes.trailing_bytes == 0) return;
  diagnostics.count(kTrailingBytes, file.string(), static_cast<std::int64_t>(bytes.trailing_bytes));
}

std::span<const std::uint8_t> bytes_of(std::string_view content) {
  return {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()};
}

std::vector<RankFacts> facts_of_ranks(const trace::Trace& trace, const std::filesystem::path& file) {
  std::vector<RankFacts> facts;
  for (const trace::Rank& rank : trace.ranks()) {
    facts.push_back({.file = file,
                     .rank = rank.number,
                     .world_size = rank.world_size,
                     .group_of_all = {},
                     .producer = rank.producer,
                     .host_name = rank.host_name,
                     .run_id = rank.run_id,
                     .window = Interval{trace.origin(), trace.origin() + trace.length()},
                     .device = {},
                     .parts = {}});
  }
  return facts;
}

TraceFile read_ilt_file(std::string_view content, const std::filesystem::path& file) {
  Diagnostics diagnostics;
  trace::Trace trace = trace::read_ilt(bytes_of(content), file.string(), diagnostics);
  if (trace.size() == 0) {
    if (diagnostics.count_of(trace::ilt::kDamagedChunk.code) > 0) {
      throw Error(kNothingRecorded, file.string(), "all operations stand in parts of the file that are damaged",
                  "copy the file again from where it was recorded");
    }
    throw Error(kNothingRecorded, file.string(), "the file holds no operation",
                "record again; where the file was cut off, copy it again");
  }
  std::vector<RankFacts> facts = facts_of_ranks(trace, file);
  return {file, std::move(trace), std::move(facts), std::move(diagnostics)};
}

std::vector<RankFacts> facts_of_file(const kineto::RankFile& rank_file) {
  const kineto::Header& header = rank_file.header;
  return {{.file = rank_file.file,
           .rank = header.rank,
           .world_size = header.world_size,
           .group_of_all = header.group_of_all,
           .producer = header.producer,
           .host_name = header.host_name,
           .run_id = {},
           .window = rank_file.window,
           .device = {},
           .parts = rank_file.slices.size()}};
}

std::vector<RankFacts> facts_of_file(const TraceFile& file) { return file.ranks; }

memory_snapshot::Snapshot snapshot_of(const FileBytes& bytes, const std::filesystem::path& file) {
  memory_snapshot::Snapshot snapshot = memory_snapshot::decode_snapshot(bytes.text(), file);
  count_trailing(bytes, file, snapshot.diagnostics);
  return snapshot;
}

std::optional<std::int64_t> only_device_of(const memory_snapshot::Snapshot& snapshot) {
  Diagnostics counted_later;
  const auto* device = memory_snapshot::choose_device(snapshot, std::nullopt, counted_later);
  return device == nullptr ? std::nullopt : std::optional(device->device);
}

std::vector<RankFacts> facts_of_file(const memory_snapshot::Snapshot& snapshot) {
  return {{.file = snapshot.file,
           .rank = {},
           .world_size = {},
           .group_of_all = {},
           .producer = memory_snapshot::kProducer,
           .host_name = {},
           .run_id = {},
           .window = memory_snapshot::window_of(snapshot),
           .device = only_device_of(snapshot),
           .parts = {}}};
}

RecordedFile read_by_format(const std::filesystem::path& file, const ReadOptions& options) {
  // They may be of many gigabytes, most of them in tables that are not used.
  if (nsys::is_database(first_bytes(file))) return nsys::read_export(file);
  FileBytes bytes = read_file(file);
  if (is_gzip(bytes.text())) bytes = inflate(bytes.text(), file, options);
  const std::string_view content = without_byte_order_mark(bytes.text());
  const Format format = detect_format(content, file);
  if (format == Format::kMemorySnapshot) return snapshot_of(bytes, file);
  if (format == Format::kIlt || format == Format::kNsightExport) {
    TraceFile whole = format == Format::kIlt ? read_ilt_file(content, file) : nsys::read_export(content, file);
    count_trailing(bytes, file, whole.diagnostics);
    return whole;
  }
  kineto::RankFile rank_file = kineto::decode_rank_file(content, file);
  count_trailing(bytes, file, rank_file.diagnostics);
  return rank_file;
}

}  // namespace

RecordedFile read_recorded_file(const std::filesystem::path& file, const ReadOptions& options) {
  try {
    return read_by_format(file, options);
  } catch (const Error& error) {
    // No copy of it holds more.
    if (!is_called_partial(file) || error.code() == kCannotOpen.name) throw;
    throw Error(ErrorCode{error.code()}, error.place(), error.problem(),
                "a command of Interlace left it when it was ended while writing: run that command again");
  }
}

memory_snapshot::Snapshot read_memory_snapshot(const std::filesystem::path& file, const ReadOptions& options) {
  FileBytes bytes = read_file(file);
  if (is_gzip(bytes.text())) bytes = inflate(bytes.text(), file, options);
  // A JSON or .ilt file would fail too, but with a word about pickles.
  const std::string_view content = without_byte_order_mark(bytes.text());
  const std::size_t first = std::min(content.find_first_not_of(" \n\r\t"), content.size());
  if (content.substr(first).starts_with("{") || trace::looks_like_ilt(bytes_of(content)) ||
      nsys::is_database(content)) {
    throw Error(memory_snapshot::kNotASnapshot, file.string(), "this seems to be a trace, not a memory snapshot",
                "name it as a recording, and what torch.cuda.memory._dump_snapshot wrote as its snapshot");
  }
  return snapshot_of(bytes, file);
}

std::vector<RankFacts> facts_of(const RecordedFile& file) {
  return std::visit([](const auto& one) { return facts_of_file(one); }, file);
}

}  // namespace interlace::ingest
