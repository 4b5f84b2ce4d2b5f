#pragma once

#include <cstdint>

/// The C functions of libinterlace_collector.so. Programs use collector.hpp, which finds them in a loaded library.
extern "C" {

/// The CUDA driver calls it in cuInit where CUDA_INJECTION64_PATH names the library. Begins to record where the
/// environment says so. Always 1: the program runs on.
// NOLINTNEXTLINE(readability-identifier-naming): the driver's name for it
[[gnu::visibility("default")]] int InitializeInjection();
/// NVTX calls it with the first mark or range of each library of the program where NVTX_INJECTION64_PATH names the
/// library; see nvtx_interface.hpp. 0 where nothing is recorded: NVTX then does nothing.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name for it
[[gnu::visibility("default")]] int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t table));

/// And after that with the first use of each of its extensions; module: nvtx::ExtensionModule.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name for it
[[gnu::visibility("default")]] int InitializeInjectionNvtxExtension(void* module);

/// Begins or resumes recording; folder: where files go, null for the environment's. 0 where that is impossible.
[[gnu::visibility("default")]] int interlace_collector_start(const char* folder);
/// The same. Where it is impossible, `why` takes the reason: so many bytes of it, its end included.
[[gnu::visibility("default")]] int interlace_collector_try_start(const char* folder, char* why, unsigned long bytes);
/// Whether recording has begun and can go on no more: it has its largest size, its file could not be written, CUPTI
/// ended itself, or the program is about to end.
[[gnu::visibility("default")]] int interlace_collector_has_ended();
[[gnu::visibility("default")]] void interlace_collector_stop();
[[gnu::visibility("default")]] void interlace_collector_flush();
/// kind: 0 a mark, 1 the begin of a range, 2 its end.
[[gnu::visibility("default")]] void interlace_collector_event(int kind, const char* name, unsigned long bytes);
}
