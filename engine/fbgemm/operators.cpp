#include "engine/fbgemm/operators.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "engine/fbgemm/fbgemm_kernels.hpp"

namespace interlace::engine::fbgemm {

namespace {

namespace fs = std::filesystem;

// In the order in which the package itself loads them.
constexpr std::array kLibraries = {"fbgemm_gpu_config",
                                   "fbgemm_gpu_tbe_utils",
                                   "fbgemm_gpu_tbe_index_select",
                                   "fbgemm_gpu_tbe_cache",
                                   "fbgemm_gpu_tbe_optimizers",
                                   "fbgemm_gpu_tbe_training_forward",
                                   "fbgemm_gpu_tbe_training_backward",
                                   "fbgemm_gpu_tbe_training_backward_pt2",
                                   "fbgemm_gpu_py"};

[[noreturn]] void refuse(const std::string& place, const std::string& problem) {
  throw Error(
      kNoFbgemm, place, problem,
      "install the fbgemm-gpu or fbgemm-gpu-cpu of this torch, name its folder in INTERLACE_FBGEMM_DIR, or take "
      "--embedding own");
}

// Where LibTorch's libraries lie.
fs::path torch_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&c10::Dispatcher::realSingleton), &info) == 0) return {};
  return fs::canonical(info.dli_fname).parent_path();
}

fs::path package_folder() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables any more
  const char* named = std::getenv("INTERLACE_FBGEMM_DIR");
  return named != nullptr ? fs::path(named) : torch_folder() / "../../fbgemm_gpu";
}

// For good: operators that are registered cannot go.
void open(const fs::path& library) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps the message by thread
    refuse(library.string(), dlerror());
  }
}

void load() {
  const fs::path folder = package_folder();
  if (!fs::exists(folder / "fbgemm_gpu_py.so")) refuse(folder.string(), "there is no package fbgemm_gpu");
  // The libraries ask for libtorch.so, which need not be found by its name alone.
  open(torch_folder() / "libtorch.so");
  for (const char* library : kLibraries) open(folder / (std::string(library) + ".so"));
}

}  // namespace

void load_package() {
  static const bool loaded = [] {
    load();
    return true;
  }();
  static_cast<void>(loaded);
}

std::vector<c10::IValue> call(const std::string& name, const Arguments& arguments) {
  const auto found = c10::Dispatcher::singleton().findSchema({"fbgemm::" + name, ""});
  if (!found) refuse("fbgemm::" + name, "the package has no such operator");
  std::vector<c10::IValue> stack;
  for (const c10::Argument& argument : found->schema().arguments()) {
    const auto given = arguments.find(argument.name());
    if (given != arguments.end()) {
      stack.push_back(given->second);
    } else if (argument.default_value()) {
      stack.push_back(*argument.default_value());
    } else {
      refuse("fbgemm::" + name, "wants \"" + argument.name() + "\", which this engine does not know");
    }
  }
  try {
    found->callBoxed(stack);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    std::string what = error.what_without_backtrace();
    std::ranges::replace(what, '\n', ' ');
    refuse("fbgemm::" + name, what);
  }
  return stack;
}

}  // namespace interlace::engine::fbgemm
