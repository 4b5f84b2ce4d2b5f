#include "cupti_collector/file_output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace interlace::collector {

int beyond_standard_streams(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int why = errno;
  ::close(descriptor);
  errno = why;
  return moved;
}

FileOutput::~FileOutput() { close(); }

bool FileOutput::create(const std::filesystem::path& file) {
  close();
  constexpr int kPermissions = 0666;  // the user's mask narrows them
  descriptor_ =
      beyond_standard_streams(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, kPermissions));
  if (descriptor_ < 0) return false;
  flock(descriptor_, LOCK_EX | LOCK_NB);
  size_ = 0;
  return true;
}

bool FileOutput::close() noexcept {
  const int descriptor = descriptor_.exchange(-1);
  // Whatever close(2) says, the descriptor is gone; a signal in the midst of it says nothing of the file.
  return descriptor < 0 || ::close(descriptor) == 0 || errno == EINTR;
}

void FileOutput::take(FileOutput& other) {
  close();
  // A child that is forked between the two closes it twice, which is better than never.
  descriptor_ = other.descriptor_.load();
  other.descriptor_ = -1;
  size_ = other.size_;
}

bool FileOutput::sync() const { return fsync(descriptor_) == 0; }

std::streamsize FileOutput::xsputn(const char* bytes, std::streamsize count) {
  std::streamsize written = 0;
  while (written < count) {
    const ssize_t part = write(descriptor_, bytes + written, static_cast<std::size_t>(count - written));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    written += part;
  }
  size_ += written;
  return written;
}

FileOutput::int_type FileOutput::overflow(int_type byte) {
  const char one = traits_type::to_char_type(byte);
  return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
}

std::filesystem::path unfinished(const std::filesystem::path& file) { return file.string() + ".new"; }

}  // namespace interlace::collector
