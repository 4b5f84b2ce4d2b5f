// What stands for PyTorch's libc10_cuda.so where nothing of it is called: an allocator that lives as long as its static
// one does.
#include "tests/support/fake_cuda/fake_c10_cuda.hpp"

namespace {

bool is_destroyed = false;

struct Allocator {
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  ~Allocator() { is_destroyed = true; }
};

const Allocator the_allocator;

}  // namespace

extern "C" int fake_allocator_is_destroyed() { return is_destroyed ? 1 : 0; }
