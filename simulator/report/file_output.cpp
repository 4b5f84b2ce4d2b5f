#include "simulator/report/file_output.hpp"

#include <libdeflate.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "simulator/base/whole_file.hpp"
#include "simulator/report/errors.hpp"

namespace interlace::report {

namespace {

std::vector<char> gzip(const std::string& text) {
  struct Free {
    void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  };
  constexpr int kLevel = 6;
  const std::unique_ptr<libdeflate_compressor, Free> compressor(libdeflate_alloc_compressor(kLevel));
  if (!compressor) throw std::bad_alloc();
  std::vector<char> compressed(libdeflate_gzip_compress_bound(compressor.get(), text.size()));
  const std::size_t size =
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), compressed.data(), compressed.size());
  compressed.resize(size);
  return compressed;
}

/// The folder itself or, where it is not there yet, the one that it would be made in. A link to nothing stands in its
/// place.
std::filesystem::path part_that_is_there(std::filesystem::path folder) {
  std::error_code unknown;
  while (std::filesystem::status(folder, unknown).type() == std::filesystem::file_type::not_found &&
         !std::filesystem::is_symlink(std::filesystem::symlink_status(folder, unknown))) {
    folder = folder.has_parent_path() ? folder.parent_path() : ".";
  }
  return folder;
}

}  // namespace

void write_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write) {
  WholeFile out(file);
  if (!out.is_open()) {
    throw Error(kCannotWrite, file.string(), "the file cannot be made",
                "check that its folder exists and may be written to");
  }
  if (file.extension() == ".gz") {
    std::ostringstream text;
    write(text);
    const std::vector<char> compressed = gzip(std::move(text).str());
    out.stream().write(compressed.data(), static_cast<std::streamsize>(compressed.size()));
  } else {
    write(out.stream());
  }
  if (!out.finish()) throw Error(kCannotWrite, file.string(), "writing failed", "check that the disk has room");
}

void refuse_unwritable_folder(const std::filesystem::path& folder) {
  const auto refuse = [&](const std::string& why) {
    throw Error(kCannotWrite, folder.string(), why, "name a folder that may be written to");
  };
  if (folder.empty()) refuse("the folder has no name");
  const std::filesystem::path there = part_that_is_there(folder);
  std::error_code failure;
  if (!std::filesystem::is_directory(there, failure)) {
    refuse(failure ? "the folder cannot be made: " + failure.message() : there.string() + " is no folder");
  }
  // Permissions alone do not tell: what may be written to hangs on the file system, too.
  std::string trial = (there / ".interlace-XXXXXX").string();
  if (mkdtemp(trial.data()) == nullptr) {
    refuse(there.string() + " cannot be written to: " + std::generic_category().message(errno));
  }
  rmdir(trial.c_str());
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error(kCannotWrite, folder.string(), "the folder cannot be made: " + failure.message(),
                "name a folder that may be written to");
  }
}

}  // namespace interlace::report
