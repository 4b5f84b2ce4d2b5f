#include "cupti_collector/calls.hpp"

#include <gtest/gtest.h>

namespace interlace::collector {
namespace {

TEST(Calls, NamesLoseVersionAndStreamSuffixes) {
  EXPECT_EQ(plain_call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_call_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_call_name("cuLaunchKernelEx"), "cuLaunchKernelEx");
}

TEST(Calls, RolesFollowNames) {
  const std::vector<std::pair<const char*, CallRole>> expected{
      {"cudaLaunchKernel", CallRole::kLaunch},
      {"cudaLaunchKernelExC", CallRole::kLaunch},
      {"cudaLaunchCooperativeKernel", CallRole::kLaunch},
      {"cuLaunchKernel", CallRole::kLaunch},
      {"cuLaunchKernelEx", CallRole::kLaunch},
      {"cudaGraphLaunch", CallRole::kLaunch},
      {"cuGraphLaunch", CallRole::kLaunch},
      {"cudaLaunchHostFunc", CallRole::kOther},
      {"cudaMemcpyAsync", CallRole::kCopy},
      {"cuMemcpyHtoDAsync", CallRole::kCopy},
      {"cudaMemsetAsync", CallRole::kCopy},
      {"cuMemsetD8Async", CallRole::kCopy},
      {"cudaEventRecord", CallRole::kEventRecord},
      {"cudaEventRecordWithFlags", CallRole::kEventRecord},
      {"cudaStreamWaitEvent", CallRole::kStreamWait},
      {"cuStreamWaitEvent", CallRole::kStreamWait},
      {"cudaStreamSynchronize", CallRole::kSync},
      {"cudaDeviceSynchronize", CallRole::kSync},
      {"cuCtxSynchronize", CallRole::kSync},
      {"cudaEventSynchronize", CallRole::kSync},
      {"cudaEventQuery", CallRole::kQuery},
      {"cudaStreamQuery", CallRole::kQuery},
      {"cudaMalloc", CallRole::kMemory},
      {"cudaMallocAsync", CallRole::kMemory},
      {"cudaFree", CallRole::kMemory},
      {"cuMemAlloc", CallRole::kMemory},
      {"cudaGetDevice", CallRole::kChatty},
      {"cudaStreamIsCapturing", CallRole::kChatty},
      {"cudaPeekAtLastError", CallRole::kChatty},
      {"cuDevicePrimaryCtxGetState", CallRole::kChatty},
      {"cudaEventCreateWithFlags", CallRole::kChatty},
      {"cudaStreamCreateWithPriority", CallRole::kOther},
      {"cudaStreamBeginCapture", CallRole::kBeginCapture},
      {"cuStreamBeginCaptureToGraph", CallRole::kBeginCapture},
      {"cudaStreamEndCapture", CallRole::kEndCapture},
      {"cudaGraphInstantiate", CallRole::kOther},
      {"cuStreamWaitValue32", CallRole::kOther},
  };
  for (const auto& [name, role] : expected) EXPECT_EQ(call_role(name), role) << name;
}

TEST(Calls, ATableEndsWhereNamesDo) {
  const CallTable table([](std::uint32_t number) -> std::string {
    if (number == 3) return "cudaMemcpy_v3020";
    return number == 40 ? "cudaGraphLaunch_v10000" : "";
  });
  EXPECT_EQ(table.calls().size(), 41U);
  EXPECT_EQ(table.find(3).name, "cudaMemcpy");
  EXPECT_EQ(table.find(40).role, CallRole::kLaunch);
  EXPECT_EQ(table.find(4).name, "CUDA call 4");
  EXPECT_EQ(table.find(9999).name, "CUDA call 9999");
}

}  // namespace
}  // namespace interlace::collector
