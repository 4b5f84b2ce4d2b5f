#include "simulator/base/at_once.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace interlace {

void AtOnce::run(std::size_t most, const std::function<void(const std::string& doing)>& begins) {
  std::mutex speaks;
  std::size_t next = 0;
  std::exception_ptr stopped;
  // Nothing may be thrown through TBB: it would break off the loops within pieces that run, which nobody tells them.
  const auto next_piece = [&]() -> Piece* {
    const std::scoped_lock lock(speaks);
    if (stopped) return nullptr;
    Piece& piece = pieces_[next++];
    try {
      begins(piece.doing);
    } catch (...) {
      stopped = std::current_exception();
      return nullptr;
    }
    return &piece;
  };
  for (std::size_t first = 0; first < pieces_.size() && !stopped; first += most) {
    tbb::parallel_for(first, std::min(first + most, pieces_.size()), std::size_t{1}, [&](std::size_t) {
      if (Piece* piece = next_piece()) piece->work();
    });
  }
  if (stopped) std::rethrow_exception(stopped);
}

}  // namespace interlace
