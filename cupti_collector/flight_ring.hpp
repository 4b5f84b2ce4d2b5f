#pragma once

#include <cstdint>
#include <deque>
#include <streambuf>
#include <string>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::collector {

/// The last seconds of an .ilt recording, kept in memory: takes what a writer writes, chunk by chunk, and forgets the
/// oldest. What defines names, ranks and lanes stays, so that what is kept is a whole file at every moment.
class FlightRing : public std::streambuf {
 public:
  /// length: how much of the recording is kept at least.
  explicit FlightRing(Nanoseconds length) : length_(length) {}

  /// The time of what is written from now on. Chunks older than the ring's length are forgotten.
  void advance(Nanoseconds now);
  /// All that is kept, as a file without its end. Rows are numbered anew, so that none seems lost.
  [[nodiscard]] std::string file() const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int_type overflow(int_type byte) override;

 private:
  struct Chunk {
    Nanoseconds time = 0;
    std::uint16_t type = 0;
    std::string bytes;
  };
  void split();

  Nanoseconds length_;
  Nanoseconds now_ = 0;
  std::string head_;                ///< the file's
  std::string coming_;              ///< of a chunk that is not whole yet
  std::vector<Chunk> definitions_;  ///< for ever
  std::deque<Chunk> chunks_;
  std::size_t bytes_ = 0;
};

}  // namespace interlace::collector
