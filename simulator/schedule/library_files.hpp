#pragma once

#include <span>

#include "simulator/schedule/library.hpp"

namespace interlace::schedule {

/// Defined by the file that embed_library.cmake writes at build time.
[[nodiscard]] std::span<const LibraryEntry> library_files();

}  // namespace interlace::schedule
