#pragma once

#include <atomic>
#include <filesystem>
#include <streambuf>

namespace interlace::collector {

/// A file that bytes go to at once, by write(2): what was written survives the death of the process. Children do not
/// inherit it over exec, and while it is open it is locked (flock), so that others can tell a living recording.
class FileOutput : public std::streambuf {
 public:
  FileOutput() = default;
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;
  ~FileOutput() override;

  /// Makes the file; false where it exists (errno is EEXIST) or cannot be made.
  [[nodiscard]] bool create(const std::filesystem::path& file);
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  /// Bytes written.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// False where the file may lack what was written, as those of other hosts may tell only here; errno says why.
  bool close() noexcept;
  /// Takes the other's file in place of its own.
  void take(FileOutput& other);
  /// In a forked child: leaves the file to its parent. What the child holds open, it holds locked. At whatever moment
  /// of this object's the parent forked; async-signal-safe.
  void abandon() noexcept { close(); }
  /// Waits until the disk has all; false where it cannot.
  [[nodiscard]] bool sync() const;

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int_type overflow(int_type byte) override;

 private:
  std::atomic<int> descriptor_{-1};  ///< no number that is closed already: it may be another file's of the program
  std::int64_t size_ = 0;
};

/// The file of this descriptor under one that is no standard stream's: where the program has closed one of those, a
/// file takes its number, and all that the program then prints. A descriptor below zero stays; -1, with errno, where
/// there is no other.
[[nodiscard]] int beyond_standard_streams(int descriptor) noexcept;

/// What is to take the file's place, while it is written.
[[nodiscard]] std::filesystem::path unfinished(const std::filesystem::path& file);

}  // namespace interlace::collector
