#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::trace {

/// Reads an .ilt trace (docs/ilt_format.md), whole or cut short anywhere: every complete chunk is used.
///
/// diagnostics receives what the file says of its making, what TraceBuilder::build finds (for a code that both have,
/// what it finds now) and what is wrong with the file: ilt.truncated or, of a file called NAME.partial, ilt.unfinished;
/// ilt.damaged_chunk, ilt.lost_operations, ilt.lost_definitions, ilt.lost_facts, ilt.lost_references,
/// ilt.time_out_of_range, ilt.unknown_chunk, ilt.unknown_column, ilt.unknown_value.
///
/// Throws Error: ilt.cannot_read, ilt.not_ilt, ilt.newer_version, ilt.damaged (header or schema), ilt.invalid (it
/// contradicts the specification), ilt.too_large (it claims more than the limits of the format), ilt.unit.
[[nodiscard]] Trace read_ilt(const std::filesystem::path& file, Diagnostics& diagnostics);

/// As above, of a file in memory; place: its name, for errors and diagnostics.
[[nodiscard]] Trace read_ilt(std::span<const std::uint8_t> bytes, const std::string& place, Diagnostics& diagnostics);

/// Whether these first bytes of a file (8 suffice) are those of an .ilt trace of any version.
[[nodiscard]] bool looks_like_ilt(std::span<const std::uint8_t> first_bytes);

}  // namespace interlace::trace
