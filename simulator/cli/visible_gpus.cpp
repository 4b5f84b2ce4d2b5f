#include "simulator/cli/visible_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "simulator/cli/child_process.hpp"
#include "simulator/cli/errors.hpp"

namespace interlace::cli {

namespace {

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

[[noreturn]] void refuse(const std::string& place, const std::string& why) {
  throw Error(kNoGpu, place, why, "run it on a machine with GPUs, or take --device cpu");
}

/// What the driver's program says of GPUs; none where it is not there. which: ids, all where empty.
std::optional<ChildAnswer> ask_driver(const std::string& which) {
  std::vector<std::string> words{"--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"};
  if (!which.empty()) words.push_back(fmt::format("--id={}", which));
  try {
    return ask_child("nvidia-smi", std::move(words), std::chrono::seconds(30));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A container may have the driver without its program.
bool has_device_file() {
  constexpr std::array<std::string_view, 4> kFiles{"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvgpu"};
  return std::ranges::any_of(kFiles, [](std::string_view file) {
    std::error_code unknown;
    return std::filesystem::exists(file, unknown);
  });
}

}  // namespace

std::vector<std::string> visible_gpus() {
  // The driver's program shows all of the machine.
  const char* set = std::getenv(kVisible);  // NOLINT(concurrency-mt-unsafe): nothing sets variables here
  const std::string visible = set == nullptr ? "" : set;
  if (set != nullptr && (visible.empty() || visible.starts_with('-'))) {
    refuse(fmt::format("{}={}", kVisible, visible), "no GPU is visible");
  }
  const auto asked = ask_driver(visible);
  if (!asked && !has_device_file()) refuse("nvidia-smi", "there is no driver of GPUs here");
  if (!asked || asked->end.timed_out) return {};
  std::vector<std::string> gpus = lines_of(asked->text);
  if (asked->end.status == 0 && !gpus.empty()) return gpus;
  // Of some ids that CUDA knows, as those of parts of a GPU, it knows nothing.
  const auto all = visible.empty() ? asked : ask_driver("");
  const bool has_some = all && (all->end.timed_out || (all->end.status == 0 && !all->text.empty()));
  if (has_some) return {};
  const std::vector<std::string> why = all ? lines_of(all->text) : std::vector<std::string>();
  refuse("nvidia-smi", why.empty() ? "it knows of no GPU" : why.front());
}

}  // namespace interlace::cli
