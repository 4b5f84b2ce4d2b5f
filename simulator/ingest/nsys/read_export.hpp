#pragma once

#include <filesystem>
#include <string_view>

#include "simulator/ingest/trace_file.hpp"

namespace interlace::ingest::nsys {

/// Whether a file begins as SQLite databases do.
[[nodiscard]] bool is_database(std::string_view content);

/// Reads what Nsight Systems exports (`nsys export --type sqlite`): CUDA calls, device work, synchronisation and NVTX
/// of all processes that gave GPUs work, a rank each. Tables and columns that are not there tell nothing; which were
/// not used is counted. Safe to call for several files at once.
/// Throws nsys.not_an_export, nsys.damaged, nsys.unknown_schema, ingest.nothing_recorded.
[[nodiscard]] TraceFile read_export(const std::filesystem::path& file);
/// From the bytes of a file that was compressed.
[[nodiscard]] TraceFile read_export(std::string_view content, const std::filesystem::path& file);

}  // namespace interlace::ingest::nsys
