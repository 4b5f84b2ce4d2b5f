#include "simulator/base/physical_memory.hpp"

#include <unistd.h>

namespace interlace {

std::optional<Bytes> physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? std::optional(Bytes{pages} * sysconf(_SC_PAGESIZE)) : std::nullopt;
}

}  // namespace interlace
