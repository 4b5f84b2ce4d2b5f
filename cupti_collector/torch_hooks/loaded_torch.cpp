#include "cupti_collector/torch_hooks/loaded_torch.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace interlace::collector::hook {

namespace {

namespace fs = std::filesystem;

/// "git_version = '70d9...'" of a Python package -> 70d9...; the file of a LibTorch archive holds just that.
std::string between_quotes(const std::string& line) {
  const std::size_t begin = line.find('\'');
  const std::size_t end = line.rfind('\'');
  return begin == std::string::npos || end <= begin ? std::string() : line.substr(begin + 1, end - begin - 1);
}

/// The commit that the loaded LibTorch was built of; empty where its folder does not tell.
std::string loaded_commit(const char* name) {
  // The library itself: its symbols may have been copied into the program.
  void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  link_map* loaded = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0) return {};
  const fs::path folder = fs::path(loaded->l_name).parent_path().parent_path();
  std::string line;
  for (std::ifstream in(folder / "version.py"); std::getline(in, line);) {
    if (line.starts_with("git_version")) return between_quotes(line);
  }
  std::ifstream in(folder / "build-hash");
  std::getline(in, line);
  return in ? line : std::string();
}

}  // namespace

std::string misfit_of(const char* library) {
  const std::string commit = loaded_commit(library);
  if (commit == INTERLACE_TORCH_COMMIT) return {};
  return "built for PyTorch " INTERLACE_TORCH_VERSION " (" INTERLACE_TORCH_COMMIT "), the program's is of " +
         (commit.empty() ? std::string("an unknown commit") : commit);
}

void say(char* why, std::size_t why_bytes, std::string_view text) {
  if (why == nullptr || why_bytes == 0) return;
  const std::size_t bytes = std::min(text.size(), why_bytes - 1);
  std::memcpy(why, text.data(), bytes);
  why[bytes] = '\0';
}

}  // namespace interlace::collector::hook
