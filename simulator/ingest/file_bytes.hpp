#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "simulator/ingest/read.hpp"

namespace interlace::ingest {

/// The content of a file, inflated where it was compressed. Movable, not copied: it may hold gigabytes.
struct FileBytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  std::size_t trailing_bytes = 0;  ///< of the compressed data, behind its last member; zeros do not count

  [[nodiscard]] std::string_view text() const { return {data.get(), size}; }
};

/// Reads a whole file as it is. Throws ingest.cannot_open, ingest.empty_file.
[[nodiscard]] FileBytes read_file(const std::filesystem::path& file);

/// What a file on disk begins with, enough to tell formats apart; empty of anything that can be read but once, and of
/// what cannot be read.
[[nodiscard]] std::string first_bytes(const std::filesystem::path& file);

[[nodiscard]] bool is_gzip(std::string_view bytes);

/// Inflates gzip data of one or several members; what follows the last member is not read but counted.
/// file: named in errors. Throws ingest.damaged_gzip, kineto.inflates_too_large.
[[nodiscard]] FileBytes inflate(std::string_view gzip, const std::filesystem::path& file, const ReadOptions& options);

}  // namespace interlace::ingest
