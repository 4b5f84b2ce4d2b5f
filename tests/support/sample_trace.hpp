#pragma once

#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {

/// A small trace of two ranks with every kind of operation, each optional both set and unset somewhere, extreme values,
/// ties in time, a host call with two kernels and device work whose launch is lost. `found` receives what its builder
/// counts and one diagnostic as a reader of some format would count it.
[[nodiscard]] Trace sample_trace(Diagnostics& found);

/// What of it versions 1.2 and 1.3 can hold: not where the parts of exchanges begin.
[[nodiscard]] Trace sample_trace_of_1_2(Diagnostics& found);

/// What of it version 1.1 can hold: no notes of operations, channels and buffers.
[[nodiscard]] Trace sample_trace_of_1_1(Diagnostics& found);

/// What of it version 1.0 of the .ilt format can hold: no states of allocators, handles of streams and requested bytes.
[[nodiscard]] Trace sample_trace_of_1_0(Diagnostics& found);

}  // namespace interlace::trace
