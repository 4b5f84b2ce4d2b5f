#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace interlace::report {

/// Creates (or replaces) a file with what `write` puts into the stream, whole or not at all; compressed with gzip where
/// the name ends in ".gz", for which the text is held in memory. Throws report.cannot_write.
void write_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);

}  // namespace interlace::report
