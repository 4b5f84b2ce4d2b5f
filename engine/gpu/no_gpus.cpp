// In builds without the GPU backend.
#include "engine/gpu/run_on_gpus.hpp"
#include "engine/runtime/failure.hpp"

namespace interlace::engine {

namespace {

[[noreturn]] void refuse() {
  throw Error(kNoGpu, "--device cuda", "this engine was built without its GPU backend",
              "build it with the preset engine-cuda, or take --device cpu");
}

}  // namespace

void require_gpus(int /*count*/) { refuse(); }

std::optional<std::vector<RankResult>> run_on_gpus(const schedule::Schedule& /*schedule*/, const Workload& /*workload*/,
                                                   const GpuOptions& /*options*/) {
  refuse();
}

}  // namespace interlace::engine
