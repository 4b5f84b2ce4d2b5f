#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <streambuf>
#include <string>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// The last seconds of an .ilt recording, kept in memory: takes what a writer writes, chunk by chunk, and forgets the
/// oldest. What defines names, ranks and lanes stays, so that what is kept is a whole file at every moment.
class FlightRing : public std::streambuf {
 public:
  /// length: how much of the recording is kept at least; most: but no more bytes than so; 0: any number. Names and
  /// other definitions are kept in any case, and a quarter of that is for what happened, however many they are.
  explicit FlightRing(Nanoseconds length, Bytes most = 0) : length_(length), most_(static_cast<std::size_t>(most)) {}

  /// Forgets what was written longer ago than the ring's length.
  void forget_old();
  /// Forgets the diagnostics so far: who writes them says all of them again.
  void forget_diagnostics();
  /// Writes all that is kept, as a file without its end, and tells of each chunk. Rows are numbered anew, so that none
  /// seems lost. False where `to` does not take it.
  [[nodiscard]] bool write(std::streambuf& to, const std::function<void()>& progress) const;
  /// Bytes that are kept, and that were ever written here.
  [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(bytes_); }
  [[nodiscard]] Bytes taken() const { return taken_; }
  /// Whether chunks were forgotten that are younger than the ring's length.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int_type overflow(int_type byte) override;

 private:
  struct Chunk {
    Nanoseconds time = 0;  ///< when it was written: of what it holds, nothing is younger
    std::uint16_t type = 0;
    std::string bytes;
  };
  void split();
  void forget_first();

  Nanoseconds length_;
  std::size_t most_;
  Bytes taken_ = 0;
  bool is_cut_ = false;
  std::string head_;                ///< the file's
  std::string coming_;              ///< of a chunk that is not whole yet
  std::vector<Chunk> definitions_;  ///< for ever
  std::vector<Chunk> diagnostics_;
  std::deque<Chunk> chunks_;
  std::size_t bytes_ = 0;
  std::size_t chunk_bytes_ = 0;  ///< of chunks_
};

}  // namespace interlace::collector
