#include "simulator/memory/stream_uses.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "simulator/schedule/library.hpp"
#include "tests/unit/memory/names.hpp"

namespace interlace::memory {
namespace {

using schedule::StreamIndex;
using Kind = StreamUse::Kind;

std::vector<StreamIndex> under(const char* wanted, const StreamUse& use) {
  return streams_of(use, schedule::find("torchrec/sparse_dist"), schedule::find(wanted));
}

TEST(StreamUses, MeanTheStreamsOfTheWantedSchedule) {
  const SegmentKey copy{Stage::kCopyBatchToGpu, Piece::kWhole, {}};
  const schedule::Schedule base = schedule::find("torchrec/base");
  EXPECT_EQ(under("torchrec/base", {copy, Kind::kNamed}), std::vector{*base.stream_named("main")});
  EXPECT_EQ(under("torchrec/base", {copy, Kind::kOwn}), std::vector{*base.stream_named("memcpy")});
  const auto count = static_cast<std::uint32_t>(base.streams.size());
  EXPECT_EQ(under("torchrec/base", {copy, Kind::kCollective, 1}), std::vector{StreamIndex{count + 1}});
}

TEST(StreamUses, UpdatesOfTablesRunWhereTheyAreLookedUp) {
  const schedule::Schedule fused = schedule::find("torchrec/fused_sparse_dist_new_stream");
  EXPECT_EQ(stream_of(fused, {Stage::kBackward, Piece::kUpdate, ModuleId{0}}), fused.stream_named("lookup"));
  EXPECT_EQ(stream_of(fused, {Stage::kBackward, Piece::kDense, {}}), fused.stream_named("main"));
}

TEST(StreamUses, NobodyKeepsMemoryForACollectiveThatIsWaitedForAtOnce) {
  const StreamUse use{{Stage::kAllToAll, Piece::kWhole, {}}, Kind::kCollective};
  EXPECT_TRUE(under("comms/a2a_sync", use).empty());
  EXPECT_EQ(under("comms/a2a_async", use).size(), 1U);
}

}  // namespace
}  // namespace interlace::memory
