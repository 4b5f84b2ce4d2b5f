#pragma once

#include "tests/support/fake_cuda/fake_cuda.hpp"

extern "C" {
/// Whether events that are asked for have happened.
void fake_cudart_events_done(bool are_done);
}
