#pragma once

#include <cstdint>

#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// visit(work) for each work that a call of an iteration launched.
template <class Visit>
void for_each_work_of(const RecordedIteration& iteration, const RecordedCall& call, Visit visit) {
  for (std::uint32_t w = 0; w < call.works; ++w) visit(iteration.works[call.first_work + w]);
}

/// visit(call, work) for each work of an iteration.
template <class Visit>
void for_each_work(const RecordedIteration& iteration, Visit visit) {
  for (const RecordedCall& call : iteration.calls) {
    for_each_work_of(iteration, call, [&](const RecordedWork& work) { visit(call, work); });
  }
}

}  // namespace interlace::replay
