#include "cupti_collector/collector.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>

#include "cupti_collector/entry_points.hpp"

namespace interlace::collector {

namespace {

constexpr const char* kLibrary = "libinterlace_collector.so";

/// Addresses within a library of the process. They are the library's facts, the same for all who ask.
struct Functions {
  decltype(&interlace_collector_start) start = nullptr;
  decltype(&interlace_collector_try_start) try_start = nullptr;  ///< null in an older library
  decltype(&interlace_collector_has_ended) has_ended = nullptr;  ///< null in an older library
  decltype(&interlace_collector_stop) stop = nullptr;
  decltype(&interlace_collector_flush) flush = nullptr;
  decltype(&interlace_collector_event) event = nullptr;
};

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

std::optional<Functions> functions_of(void* handle) {
  if (handle == nullptr) return std::nullopt;
  Functions found;
  find(handle, "interlace_collector_start", found.start);
  find(handle, "interlace_collector_try_start", found.try_start);
  find(handle, "interlace_collector_has_ended", found.has_ended);
  find(handle, "interlace_collector_stop", found.stop);
  find(handle, "interlace_collector_flush", found.flush);
  find(handle, "interlace_collector_event", found.event);
  const bool is_whole = found.start != nullptr && found.stop != nullptr && found.flush != nullptr;
  return is_whole && found.event != nullptr ? std::optional(found) : std::nullopt;
}

/// The library that CUDA was told to load.
const char* injected() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it
  return std::getenv("CUDA_INJECTION64_PATH");
}

/// The library that CUDA will load: what the program says before its first CUDA call is kept there. Else only what is
/// loaded already.
std::optional<Functions> loaded() {
  if (injected() != nullptr) {
    if (auto found = functions_of(dlopen(injected(), RTLD_NOW))) return found;
  }
  return functions_of(dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD));
}

/// Once a library is found it stays.
std::atomic<const Functions*>& known_functions() {
  static std::atomic<const Functions*> known{nullptr};
  return known;
}

const Functions* remember(const Functions& found) {
  const Functions* known = known_functions().load(std::memory_order_acquire);
  if (known != nullptr) return known;
  const auto* kept = new Functions(found);
  known_functions().store(kept, std::memory_order_release);
  return kept;
}

/// None in a program that nobody records.
const Functions* functions() {
  if (const Functions* found = known_functions().load(std::memory_order_acquire)) return found;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it
  if (injected() == nullptr || std::getenv("INTERLACE_RECORD_DIR") == nullptr) return nullptr;
  const auto found = loaded();
  return found ? remember(*found) : nullptr;
}

/// Begins to record; why it does not, where it does not.
std::optional<std::string> start_by(const Functions& collector, const std::filesystem::path& folder) {
  if (collector.try_start == nullptr) {
    if (collector.start(folder.c_str()) != 0) return std::nullopt;
    return "the collector library gives no reason";
  }
  std::array<char, 1024> why{};
  if (collector.try_start(folder.c_str(), why.data(), why.size()) != 0) return std::nullopt;
  return why.data();
}

void add(int kind, std::string_view name) noexcept {
  if (const Functions* collector = functions()) collector->event(kind, name.data(), name.size());
}

enum EventKind : int { kMark = 0, kPush = 1, kPop = 2 };

}  // namespace

void start(const std::filesystem::path& folder, const std::filesystem::path& library) {
  auto found = library.empty() ? loaded() : functions_of(dlopen(library.c_str(), RTLD_NOW));
  if (!found && library.empty()) {
    const char* file = injected() == nullptr ? kLibrary : injected();
    found = functions_of(dlopen(file, RTLD_NOW));
  }
  if (!found) {
    throw Error(kNoCollector, library.empty() ? kLibrary : library.string(), "the collector library cannot be loaded",
                "name its file, or run the program under `interlace record`");
  }
  const Functions& collector = *remember(*found);
  const auto why = start_by(collector, folder);
  // A program that has gone on for hours does not end over a full disk: the recording says what became of it.
  if (!why || (collector.has_ended != nullptr && collector.has_ended() != 0)) return;
  throw Error(kCannotStart, folder.string(), "recording cannot begin: " + *why);
}

void stop() noexcept {
  if (const Functions* collector = functions()) collector->stop();
}

void flush() noexcept {
  if (const Functions* collector = functions()) collector->flush();
}

void mark(std::string_view name) noexcept { add(kMark, name); }

void tell(const UnrecordedSteps& steps) noexcept { mark(to_mark(steps)); }

Range::Range(std::string_view name) noexcept { add(kPush, name); }

Range::~Range() { add(kPop, {}); }

}  // namespace interlace::collector
