#pragma once

#include <cstddef>

#include "simulator/ingest/kineto/events.hpp"
#include "simulator/ingest/kineto/raw_event.hpp"

namespace interlace::ingest::kineto {

/// Files one event into the table by its phase and category; what is not used, or lacks what its category needs, is
/// tallied. byte: where the event stands in the file.
void classify(const RawEvent& event, std::size_t byte, EventTable& table);

}  // namespace interlace::ingest::kineto
