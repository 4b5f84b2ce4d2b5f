#include "cupti_collector/torch_hook.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace interlace::collector {

namespace {

namespace fs = std::filesystem;

/// The folder of the library that this code is in.
fs::path own_folder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &where) == 0 || where.dli_fname == nullptr) return {};
  return fs::path(where.dli_fname).parent_path();
}

}  // namespace

TorchHook::Presence TorchHook::look() {
  if (dlopen(torch_, RTLD_NOW | RTLD_NOLOAD) == nullptr) return Presence::kNone;
  const fs::path file = own_folder() / file_;
  std::error_code failure;
  if (!fs::exists(file, failure)) {
    why_ = std::string(file_) + " is not beside the collector library (a build with INTERLACE_TORCH_DIR makes it)";
    return Presence::kRefused;
  }
  library_ = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library_ != nullptr) return Presence::kLoaded;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of this thread's last call
  const char* error = dlerror();
  why_ = error == nullptr ? "it cannot be loaded" : error;
  return Presence::kRefused;
}

void* TorchHook::symbol(const char* name) const { return dlsym(library_, name); }

}  // namespace interlace::collector
