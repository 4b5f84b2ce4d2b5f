#pragma once

#include <string>
#include <vector>

namespace interlace::cli {

/// The GPUs that a program started here sees, a line each with name, driver and memory, as the driver's nvidia-smi
/// tells them; empty where it cannot tell of those. Throws Error(cli.no_gpu) where there is none.
[[nodiscard]] std::vector<std::string> visible_gpus();

}  // namespace interlace::cli
