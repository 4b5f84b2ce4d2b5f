#pragma once

#include <span>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "simulator/ingest/recorded_file.hpp"

namespace interlace::ingest {

/// Joins decoded files of one run into one trace, ranks in the order of their numbers; they are spent. Of what .ilt
/// files say of their making, what depends on the ranks given (missing ranks, hosts) is found anew.
/// Throws as number_ranks does.
[[nodiscard]] Recording join(std::vector<RecordedFile> files);

}  // namespace interlace::ingest
