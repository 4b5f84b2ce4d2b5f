#include "simulator/ingest/names.hpp"

#include <gtest/gtest.h>

#include "simulator/ingest/kineto/keys.hpp"

namespace interlace::ingest::kineto {
namespace {

using trace::CollectiveFunction;
using trace::MemorySpace;
using trace::OperationKind;
using trace::SyncKind;

TEST(Names, TellWhatACallDoes) {
  const auto expect = [](std::string_view name, OperationKind kind, SyncKind sync) {
    EXPECT_EQ(call_role(name).kind, kind) << name;
    EXPECT_EQ(call_role(name).sync, sync) << name;
  };
  expect("cudaEventRecord", OperationKind::kEventRecord, SyncKind::kEventRecord);
  expect("cudaEventRecordWithFlags", OperationKind::kEventRecord, SyncKind::kEventRecord);
  expect("cuEventRecord", OperationKind::kEventRecord, SyncKind::kEventRecord);
  expect("cudaEventRecord_v3020_ptsz", OperationKind::kEventRecord, SyncKind::kEventRecord);
  expect("cudaStreamWaitEvent", OperationKind::kStreamWait, SyncKind::kStreamWaitEvent);
  expect("hipStreamWaitEvent", OperationKind::kStreamWait, SyncKind::kStreamWaitEvent);
  expect("cudaStreamSynchronize", OperationKind::kHostSync, SyncKind::kStreamSync);
  expect("cudaEventSynchronize", OperationKind::kHostSync, SyncKind::kEventSync);
  expect("cudaDeviceSynchronize", OperationKind::kHostSync, SyncKind::kDeviceSync);
  expect("cuCtxSynchronize", OperationKind::kHostSync, SyncKind::kDeviceSync);
  expect("cudaEventQuery", OperationKind::kHostCall, SyncKind::kEventQuery);
  expect("cudaLaunchKernel", OperationKind::kHostCall, SyncKind::kUnknown);
  expect("cudaStreamWaitEventually", OperationKind::kHostCall, SyncKind::kUnknown);
  expect("INVALID", OperationKind::kHostCall, SyncKind::kUnknown);
}

TEST(Names, TellWhereACopyGoes) {
  const auto up = copy_of_name("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(up.source, MemorySpace::kPinned);
  EXPECT_EQ(up.destination, MemorySpace::kDevice);
  EXPECT_FALSE(up.peer);
  const auto down = copy_of_name("Memcpy DtoH (Device -> Pageable)");
  EXPECT_EQ(down.source, MemorySpace::kDevice);
  EXPECT_EQ(down.destination, MemorySpace::kPageable);
  EXPECT_TRUE(copy_of_name("Memcpy PtoP (Device -> Device)").peer);
  const auto fill = copy_of_name("Memset (Managed)");
  EXPECT_EQ(fill.source, MemorySpace::kDevice);
  EXPECT_EQ(fill.destination, MemorySpace::kManaged);
  EXPECT_EQ(copy_of_name("Memcpy").source, MemorySpace::kUnknown);
  EXPECT_EQ(copy_of_name(")(").source, MemorySpace::kUnknown);
}

TEST(Names, TellCollectives) {
  EXPECT_TRUE(is_collective_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"));
  EXPECT_TRUE(is_collective_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"));
  EXPECT_FALSE(is_collective_kernel("void at::native::reduce_kernel<512>(ncclThing)"));

  const auto expect = [](std::string_view name, CollectiveFunction function) {
    EXPECT_EQ(collective_function(name), function) << name;
  };
  expect("all_to_allv", CollectiveFunction::kAllToAll);
  expect("allreduce", CollectiveFunction::kAllReduce);
  expect("_allgather_base", CollectiveFunction::kAllGather);
  expect("_reduce_scatter_base", CollectiveFunction::kReduceScatter);
  expect("broadcast", CollectiveFunction::kBroadcast);
  expect("reduce", CollectiveFunction::kReduce);
  expect("recv 3<-0", CollectiveFunction::kSendRecv);
  expect("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(args)", CollectiveFunction::kReduceScatter);
  expect("ncclDevKernel_SendRecv(allreduce)", CollectiveFunction::kSendRecv);
  expect("ncclDevKernel_Generic(args)", CollectiveFunction::kUnknown);
}

TEST(Names, TellElementSizes) {
  EXPECT_EQ(element_bytes("Float"), 4);
  EXPECT_EQ(element_bytes("BFloat16"), 2);
  EXPECT_EQ(element_bytes("Long"), 8);
  EXPECT_EQ(element_bytes("Quaternion"), std::nullopt);
}

TEST(Keys, AreFoundInTheirOwnPlaceOnly) {
  EXPECT_EQ(event_key("ph"), Key::kPhase);
  EXPECT_EQ(event_key("dur"), Key::kDuration);
  EXPECT_EQ(event_key("stream"), Key::kNone);
  EXPECT_EQ(event_key(""), Key::kNone);
  EXPECT_EQ(argument_key("stream"), Key::kStream);
  EXPECT_EQ(argument_key("wait_on_cuda_event_record_corr_id"), Key::kWaitOnRecord);
  EXPECT_EQ(argument_key("ph"), Key::kNone);
  EXPECT_EQ(category_of("cuda_driver"), Category::kHostCall);
  EXPECT_EQ(category_of("Kernel"), Category::kKernel);
  EXPECT_EQ(category_of("kernels"), Category::kOther);
}

}  // namespace
}  // namespace interlace::ingest::kineto
