#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/ingest/kineto/events.hpp"
#include "simulator/ingest/kineto/header.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest::kineto {

/// One rank's file, decoded.
struct RankFile {
  std::filesystem::path file;
  Header header;
  std::vector<EventTable> slices;  ///< in the order of the file
  /// From the first start to the last end on the recording's clock; none where nothing was recorded.
  std::optional<Interval> window;
  Diagnostics diagnostics;
};

/// Decodes the (inflated) text of a Kineto file. Safe to call for several files at once.
/// Throws kineto.truncated, kineto.not_a_trace, kineto.too_damaged, ingest.unsupported_format.
[[nodiscard]] RankFile decode_rank_file(std::string_view text, const std::filesystem::path& file);

/// Adds what a file recorded to the trace as rank `number`: joins synchronisation records with their host calls and
/// backward with forward operators, names lanes. Flaws found in joining are counted.
void add_rank(const RankFile& rank_file, std::int32_t number, trace::TraceBuilder& builder, Diagnostics& diagnostics);

}  // namespace interlace::ingest::kineto
