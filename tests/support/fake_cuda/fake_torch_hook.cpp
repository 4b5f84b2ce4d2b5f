// What stands for libinterlace_torch_allocator.so beside the collector: attaches to the fake allocator, and prints in
// what state that is when it is asked what it holds.
#include <unistd.h>

#include <string_view>

#include "cupti_collector/torch_hooks/allocator_interface.hpp"
#include "tests/support/fake_cuda/fake_c10_cuda.hpp"

namespace {

using namespace interlace::collector::hook;  // it plays that

Take taker = nullptr;

}  // namespace

namespace interlace::collector::hook {

extern "C" {

Attached interlace_torch_allocator_attach(Take take, char*, std::size_t) noexcept {
  taker = take;
  take({.address = 1 << 20, .bytes = 1 << 20, .action = Action::kSegmentAlloc});
  take({.address = 1 << 20, .bytes = 512});
  return Attached::kYes;
}

bool interlace_torch_allocator_state(const StateSink& sink) noexcept {
  const std::string_view found =
      fake_allocator_is_destroyed() != 0 ? "asked when destroyed\n" : "asked while it lived\n";
  static_cast<void>(!write(STDOUT_FILENO, found.data(), found.size()));
  sink.settings(sink.context, "");
  sink.segment(sink.context, {.address = 1 << 20, .bytes = 1 << 20});
  sink.block(sink.context, {.address = 1 << 20, .bytes = 1 << 20, .requested = 512, .is_allocated = true});
  taker({.action = Action::kSnapshot});
  return true;
}
}

}  // namespace interlace::collector::hook
