#pragma once

#include <filesystem>
#include <string_view>

namespace interlace::ingest {

enum class Format { kKinetoJson, kIlt, kNsightExport, kMemorySnapshot };

/// Whether a file is called as Nsight Systems calls its reports. What these hold is not documented.
[[nodiscard]] bool is_nsight_report(const std::filesystem::path& file);

/// The format of a file by its (inflated) content. file: named in errors.
/// Throws ingest.unsupported_format for formats that are known but not read, ingest.unknown_format for all else.
[[nodiscard]] Format detect_format(std::string_view content, const std::filesystem::path& file);

}  // namespace interlace::ingest
