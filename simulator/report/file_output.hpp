#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace interlace::report {

/// Creates (or replaces) a file with what `write` puts into the stream, whole or not at all; compressed with gzip where
/// the name ends in ".gz", for which the text is held in memory. Throws report.cannot_write.
void write_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);

/// Makes a folder, with those that it stands in, where it is missing. Throws report.cannot_write.
void make_folder(const std::filesystem::path& folder);

/// For before long work: throws report.cannot_write where write_file() could make nothing in this folder, made if need
/// be. Leaves nothing behind, nor the folder.
void refuse_unwritable_folder(const std::filesystem::path& folder);

}  // namespace interlace::report
