#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace interlace::testing {

/// Byte by byte; nothing of a file that is not there.
inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace interlace::testing
