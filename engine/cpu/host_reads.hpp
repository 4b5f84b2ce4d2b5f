#pragma once

#include <cstddef>
#include <vector>

namespace interlace::engine::cpu {

/// What the hosts of a run have read of their devices inside stages: by rank, in the order of the host.
using HostReads = std::vector<std::vector<std::vector<std::byte>>>;

}  // namespace interlace::engine::cpu
