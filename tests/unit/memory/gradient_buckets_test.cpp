#include "simulator/memory/gradient_buckets.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "simulator/trace/trace_builder.hpp"
#include "tests/unit/memory/names.hpp"

namespace interlace::memory {
namespace {

/// One iteration that all-reduces 100 floats in its forward and, in its backward, as many as are asked for.
class Program {
 public:
  explicit Program(bool has_range) : rank_(builder_.add_rank({.number = 0})) {
    thread_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 1);
    stream_ = builder_.lane(trace::LaneKind::kStream, rank_, 0, 7);
    if (has_range) builder_.add_range({thread_, builder_.intern("DistributedDataParallel.forward"), 0, 5, {}}, {});
    all_reduce(kForward, 100);
  }

  void all_reduce(const SegmentKey& in, std::int64_t floats) {
    const auto correlation = static_cast<std::int64_t>(segments_.size()) + 1;
    const Nanoseconds at = 10 * correlation;
    builder_.add_host_call({thread_, builder_.intern("launch"), at, 1, correlation});
    trace::CollectiveDetail detail{.function = trace::CollectiveFunction::kAllReduce};
    detail.in_elements = floats;
    detail.element_bytes = 4;
    builder_.add_collective({stream_, builder_.intern("ncclDevKernel_AllReduce"), at + 2, 3, correlation}, {}, detail);
    segments_.push_back(in);
  }

  std::vector<Bytes> buckets(std::vector<Bytes>& persistent) {
    Diagnostics diagnostics;
    const trace::Trace trace = std::move(builder_).build(diagnostics);
    stages::RankCut cut{rank_, {{{0, 100}, {}, {}}}, {}, {}};
    for (const trace::OperationId op : trace.on_lane(thread_)) {
      auto& items = cut.iterations.front().items;
      if (trace.kind(op) == trace::OperationKind::kHostCall) items.push_back({op, segments_[items.size()], 0});
    }
    return take_gradient_buckets(trace, cut, persistent);
  }

 private:
  trace::TraceBuilder builder_;
  trace::RankId rank_;
  trace::LaneId thread_;
  trace::LaneId stream_;
  std::vector<SegmentKey> segments_;
};

TEST(GradientBuckets, AreWhatTheBackwardReduces) {
  Program program(true);
  program.all_reduce(kDense, 20);
  program.all_reduce(kDense, 50);
  std::vector<Bytes> persistent{200, 400, 80, 80};
  EXPECT_EQ(program.buckets(persistent), (std::vector<Bytes>{80, 200}));
  EXPECT_EQ(persistent, (std::vector<Bytes>{400, 80}));
}

TEST(GradientBuckets, AProgramWithoutDistributedDataParallelHasNone) {
  Program program(false);
  program.all_reduce(kDense, 20);
  std::vector<Bytes> persistent{80};
  EXPECT_TRUE(program.buckets(persistent).empty());
  EXPECT_EQ(persistent.size(), 1U);
}

TEST(GradientBuckets, AnAllReduceOfNoPersistentBlockTellsOfOtherMeans) {
  Program program(true);
  program.all_reduce(kDense, 20);
  program.all_reduce(kDense, 50);
  std::vector<Bytes> persistent{80, 400};
  EXPECT_TRUE(program.buckets(persistent).empty());
  EXPECT_EQ(persistent.size(), 2U);
}

}  // namespace
}  // namespace interlace::memory
