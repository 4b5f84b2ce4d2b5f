// libinterlace_torch_allocator.so: what libinterlace_collector.so loads where the program has LibTorch's CUDA half.
#include <c10/core/Allocator.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "cupti_collector/allocator_hook/forwarding_allocator.hpp"

namespace interlace::collector::hook {

namespace {

namespace fs = std::filesystem;

/// The one that was put in; never taken out again, since who asked for it before keeps it.
std::atomic<ForwardingAllocator*>& the_allocator() {
  static std::atomic<ForwardingAllocator*> allocator{nullptr};
  return allocator;
}

/// "git_version = '70d9...'" of a Python package -> 70d9...; the file of a LibTorch archive holds just that.
std::string between_quotes(const std::string& line) {
  const std::size_t begin = line.find('\'');
  const std::size_t end = line.rfind('\'');
  return begin == std::string::npos || end <= begin ? std::string() : line.substr(begin + 1, end - begin - 1);
}

/// The commit that the loaded LibTorch was built of; empty where its folder does not tell. Its classes are laid out as
/// the headers of that commit say, whichever CUDA it was built for.
std::string loaded_commit() {
  // The library itself: its symbols may have been copied into the program.
  void* library = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
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

void say(char* why, std::size_t why_bytes, std::string_view text) {
  if (why == nullptr || why_bytes == 0) return;
  const std::size_t bytes = std::min(text.size(), why_bytes - 1);
  std::memcpy(why, text.data(), bytes);
  why[bytes] = '\0';
}

Attached attach(Take take, std::string& why) {
  const std::string commit = loaded_commit();
  if (commit != INTERLACE_TORCH_COMMIT) {
    why = "built for PyTorch " INTERLACE_TORCH_VERSION " (" INTERLACE_TORCH_COMMIT "), the program's is of " +
          (commit.empty() ? std::string("an unknown commit") : commit);
    return Attached::kOtherVersion;
  }
  auto* real = c10::cuda::CUDACachingAllocator::allocator.load();
  if (real == nullptr) {
    why = "PyTorch has no allocator yet";
    return Attached::kFailed;
  }
  if (real->name() != "native") {
    why = "PyTorch uses the allocator '" + real->name() + "'";
    return Attached::kOtherBackend;
  }
  const bool is_there = real->initialized();
  auto* allocator = new ForwardingAllocator(*real, take);
  the_allocator().store(allocator, std::memory_order_release);
  // Both ways lead to it: most of PyTorch asks the one, c10::GetAllocator the other.
  c10::cuda::CUDACachingAllocator::allocator.store(allocator);
  c10::SetAllocator(c10::DeviceType::CUDA, allocator);
  return is_there ? Attached::kLater : Attached::kYes;
}

/// Gives a snapshot to a sink.
void give(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot, const StateSink& sink) {
  sink.settings(sink.context, snapshot.config_metadata.last_allocator_settings.c_str());
  for (const auto& segment : snapshot.segments) {
    sink.segment(sink.context, {.address = segment.address,
                                .bytes = segment.total_size,
                                .stream = reinterpret_cast<std::uintptr_t>(segment.stream),
                                .pool_first = segment.owner_private_pool_id.first,
                                .pool_second = segment.owner_private_pool_id.second,
                                .device = segment.device,
                                .is_large = segment.is_large,
                                .is_expandable = segment.is_expandable});
    std::uint64_t address = segment.address;
    for (const auto& block : segment.blocks) {
      sink.block(sink.context, {.address = address,
                                .bytes = block.size,
                                .requested = block.requested_size,
                                .is_allocated = block.allocated,
                                .is_active = block.active});
      address += block.size;
    }
  }
}

}  // namespace

extern "C" {

Attached interlace_torch_allocator_attach(Take take, char* why, std::size_t why_bytes) noexcept {
  try {
    std::string reason;
    const Attached result = attach(take, reason);
    say(why, why_bytes, reason);
    return result;
  } catch (const std::exception& error) {
    say(why, why_bytes, error.what());
  }
  return Attached::kFailed;
}

bool interlace_torch_allocator_state(const StateSink& sink) noexcept {
  try {
    ForwardingAllocator* allocator = the_allocator().load(std::memory_order_acquire);
    if (allocator == nullptr || !allocator->is_attached()) return false;
    give(allocator->real().snapshot({0, 0}, false), sink);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
}

}  // namespace interlace::collector::hook
