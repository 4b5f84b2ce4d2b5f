#include "simulator/base/whole_file.hpp"

#include <string>
#include <system_error>

namespace interlace {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPartial = ".partial";

/// Such names (/dev/stdout) lead to what is open already.
bool is_of_system(const fs::path& file) {
  const std::string name = file.lexically_normal().string();
  return name.starts_with("/dev/") || name.starts_with("/proc/");
}

/// The file that a link leads to: the link is to stay.
fs::path target_of(const fs::path& file) {
  if (is_of_system(file)) return file;
  std::error_code failure;
  fs::path target = fs::canonical(file, failure);
  return failure ? file : target;
}

}  // namespace

WholeFile::WholeFile(const fs::path& file) : file_(target_of(file)), partial_(file_) {
  std::error_code ignored;
  const fs::file_status old = fs::status(file_, ignored);
  const bool is_plain = !fs::exists(old) || fs::is_regular_file(old);
  if (is_plain && !is_of_system(file_)) partial_ += kPartial;
  stream_.open(partial_, std::ios::binary | std::ios::trunc);
  is_unfinished_ = stream_.is_open();
  if (is_unfinished_ && fs::is_regular_file(old)) fs::permissions(partial_, old.permissions(), ignored);
}

WholeFile::~WholeFile() {
  if (!is_unfinished_ || partial_ == file_) return;
  std::error_code ignored;
  fs::remove(partial_, ignored);
}

bool WholeFile::finish() {
  stream_.close();
  if (!stream_) return false;
  std::error_code failure;
  if (partial_ != file_) fs::rename(partial_, file_, failure);
  is_unfinished_ = static_cast<bool>(failure);
  return !failure;
}

bool is_called_partial(const fs::path& file) { return file.extension() == kPartial; }

}  // namespace interlace
