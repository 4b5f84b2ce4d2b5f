#include "simulator/ingest/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace interlace::ingest {
namespace {

using trace::OperationId;
using trace::OperationKind;

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / name;
}

std::map<OperationKind, int> kinds_of(const trace::Trace& trace) {
  std::map<OperationKind, int> kinds;
  for (const OperationKind kind : trace.kinds()) ++kinds[kind];
  return kinds;
}

// The expected counts are those of the file's categories, e.g. by
//   zcat sparse.r0.json.gz | grep -c '"ph": "X", "cat": "cpu_op"'
TEST(Read, KeepsEveryEventOfATorchRecTrace) {
  const std::vector<std::filesystem::path> files{sample("torchrec_c6/sparse.r0.json.gz")};
  const Recording recording = read(files);
  auto kinds = kinds_of(recording.trace);

  constexpr int kCpuOps = 3222;
  constexpr int kUserAnnotations = 177;
  constexpr int kOverheads = 3;
  constexpr int kRuntimeCalls = 2610;
  constexpr int kDriverCalls = 60;
  constexpr int kKernels = 654;
  constexpr int kNcclKernels = 33;
  EXPECT_EQ(kinds[OperationKind::kRange], kCpuOps + kUserAnnotations + kOverheads);
  EXPECT_EQ(kinds[OperationKind::kHostCall] + kinds[OperationKind::kEventRecord] + kinds[OperationKind::kStreamWait] +
                kinds[OperationKind::kHostSync],
            kRuntimeCalls + kDriverCalls);
  EXPECT_EQ(kinds[OperationKind::kKernel], kKernels - kNcclKernels);
  EXPECT_EQ(kinds[OperationKind::kCollective], kNcclKernels);
  EXPECT_EQ(kinds[OperationKind::kCopy], 81);
  EXPECT_EQ(kinds[OperationKind::kMemset], 63);
  EXPECT_EQ(kinds[OperationKind::kDeviceRange], 96);
  EXPECT_EQ(recording.diagnostics.count_of("ingest.missing_ranks"), 1);
}

}  // namespace
}  // namespace interlace::ingest
