#include "simulator/base/at_once.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <mutex>

namespace interlace {

void AtOnce::run(std::size_t most, const std::function<void(const std::string& doing)>& begins) {
  std::mutex speaks;
  for (std::size_t first = 0; first < pieces_.size(); first += most) {
    tbb::parallel_for(first, std::min(first + most, pieces_.size()), std::size_t{1}, [&](std::size_t i) {
      {
        const std::scoped_lock lock(speaks);
        begins(pieces_[i].doing);
      }
      pieces_[i].work();
    });
  }
}

}  // namespace interlace
