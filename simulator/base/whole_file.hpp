#pragma once

#include <filesystem>
#include <fstream>

namespace interlace {

/// A file that comes to be in its place whole, or leaves there what was before: it is written beside it, with
/// ".partial" after its name. What is no plain file, such as a pipe or a device, is written as it comes.
class WholeFile {
 public:
  explicit WholeFile(const std::filesystem::path& file);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  /// Without finish() before it nothing is left of what was written.
  ~WholeFile();

  /// False where the file cannot be made.
  [[nodiscard]] bool is_open() const { return stream_.is_open(); }
  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// Puts it in its place. False where it could not be written in whole: then nothing is.
  [[nodiscard]] bool finish();

 private:
  std::filesystem::path file_;
  std::filesystem::path partial_;  ///< file_ where that is no plain one
  std::ofstream stream_;
  bool is_unfinished_ = false;  ///< made, and not in its place yet
};

/// Whether a file is called as what a WholeFile leaves where its process is killed: a part of it.
[[nodiscard]] bool is_called_partial(const std::filesystem::path& file);

}  // namespace interlace
