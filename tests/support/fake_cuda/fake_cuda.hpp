#pragma once

#include <cstdint>

/// A CUDA that no GPU is needed for: libcupti.so.13 with the functions that the collector uses, which makes real
/// records of what programs ask of the functions below, the part of the driver. Kernels "run" for as long as they are
/// told to, on the wall clock; streams are FIFO.
///
/// The environment says how it misbehaves: FAKE_CUDA_HOLDER=name (another tool holds CUPTI), FAKE_CUDA_NO_DRIVER=1 (no
/// function but two works), FAKE_CUDA_VERSION=24 (records as of CUDA 12.6), FAKE_CUDA_HANG=1 (a forced flush never
/// returns), FAKE_CUDA_HANG_AT_EXIT=1 (nor does CUDA's part of the exit), FAKE_CUDA_SLOW_FLUSH=1 (each flush takes half
/// a second).
extern "C" {

/// As the first CUDA call of a process: loads and calls the library that CUDA_INJECTION64_PATH names.
int fake_cuda_init();

/// What becomes of a launch's device record.
enum FakeFate {
  kFakeNormal = 0,
  kFakeUntimed = 1,      ///< it comes without times
  kFakeUndelivered = 2,  ///< it never comes
};
/// Each gives the correlation of the call.
std::uint32_t fake_cuda_launch(std::uint32_t stream, const char* kernel, std::uint64_t nanoseconds, int fate);
/// As a program launches that uses the driver's own functions.
std::uint32_t fake_cuda_launch_by_driver(std::uint32_t stream, const char* kernel, std::uint64_t nanoseconds);
std::uint32_t fake_cuda_launch_graph(std::uint32_t stream, std::uint32_t nodes, std::uint64_t nanoseconds);
/// Launches that are captured into a graph: calls without device work.
std::uint32_t fake_cuda_capture(std::uint32_t launches);
std::uint32_t fake_cuda_copy(std::uint32_t stream, std::uint64_t bytes, std::uint64_t nanoseconds);
/// cudaMalloc and cudaFree; as CUPTI does, a release says no size.
std::uint32_t fake_cuda_malloc(std::uint64_t address, std::uint64_t bytes);
std::uint32_t fake_cuda_free(std::uint64_t address);
std::uint32_t fake_cuda_event_record(std::uint32_t stream, std::uint32_t event);
std::uint32_t fake_cuda_stream_wait(std::uint32_t stream, std::uint32_t event);
std::uint32_t fake_cuda_event_query(std::uint32_t event);
std::uint32_t fake_cuda_synchronize();
/// A call that the collector mutes where it can.
std::uint32_t fake_cuda_get_device();
void fake_cuda_create_stream(std::uint32_t stream, std::int32_t priority);
/// cudaStream_t of a stream as a number; 0 of the default stream, 7.
std::uint64_t fake_cuda_stream_handle(std::uint32_t stream);
void fake_cuda_destroy_context();

/// cuptiActivityPushExternalCorrelationId and its counterpart; kind: CUpti_ExternalCorrelationKind.
void fake_cuda_push_external(int kind, std::uint64_t id);
void fake_cuda_pop_external(int kind);

/// For sessions that are played: the name of a function, of the driver or the runtime, to be set before fake_cuda_init;
/// a record as CUPTI lays it, into the buffer that has this number; the return of all those buffers, in an order that
/// the seed decides (0: by number); a record that no buffer was free for.
void fake_cuda_name_call(int is_of_driver, std::uint32_t function, const char* name);
void fake_cuda_deliver(std::int64_t buffer, const void* record, std::uint64_t bytes);
void fake_cuda_hand_over(std::uint32_t seed);
void fake_cuda_drop();

/// The correlation that the next call gets.
void fake_cuda_set_next_correlation(std::uint32_t correlation);
/// Facts of waits come before those of the records that they wait for, by one buffer.
void fake_cuda_deliver_waits_first(int on);
/// Buffers that the collector has given out and CUPTI not returned yet.
std::int64_t fake_cuda_buffers_out();
/// How often cuptiActivityFlushAll was called.
std::int64_t fake_cuda_flushes();
}
