#include "simulator/base/whole_file.hpp"

#include <system_error>
#include <utility>

namespace interlace {

namespace fs = std::filesystem;

namespace {

/// The file that a link leads to: the link is to stay.
fs::path target_of(const fs::path& file) {
  std::error_code failure;
  fs::path target = fs::canonical(file, failure);
  return failure ? file : target;
}

}  // namespace

WholeFile::WholeFile(const fs::path& file) : file_(target_of(file)), partial_(file_) {
  std::error_code ignored;
  const fs::file_status old = fs::status(file_, ignored);
  if (!fs::exists(old) || fs::is_regular_file(old)) partial_ += ".partial";
  stream_.open(partial_, std::ios::binary | std::ios::trunc);
  if (stream_ && fs::is_regular_file(old)) fs::permissions(partial_, old.permissions(), ignored);
}

WholeFile::~WholeFile() {
  if (!stream_.is_open()) return;
  stream_.close();
  std::error_code ignored;
  if (partial_ != file_) fs::remove(partial_, ignored);
}

bool WholeFile::finish() {
  stream_.flush();
  if (!stream_) return false;
  stream_.close();
  if (!stream_) return false;
  std::error_code failure;
  if (partial_ != file_) fs::rename(partial_, file_, failure);
  return !failure;
}

}  // namespace interlace
