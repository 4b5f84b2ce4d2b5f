#pragma once

#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {

/// A small trace of two ranks with every kind of operation, each optional both set and unset somewhere, extreme values,
/// ties in time, a host call with two kernels and device work whose launch is lost. `found` receives what its builder
/// counts and one diagnostic as a reader of some format would count it.
[[nodiscard]] Trace sample_trace(Diagnostics& found);

}  // namespace interlace::trace
