#include "simulator/replay/recognise.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "simulator/ingest/read.hpp"
#include "simulator/replay/recorded_schedule.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::replay {
namespace {

/// A recording of one rank, cut and boiled down.
struct Recorded {
  explicit Recorded(const std::string& name)
      : recording(ingest::read(
            std::array{std::filesystem::path(INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/" + name)})),
        cut(stages::cut(recording.trace, stages::torchrec_profile(), recording.diagnostics)),
        table(find_sites(recording.trace, cut, recording.diagnostics)) {}

  [[nodiscard]] std::optional<Likeness> like(std::string_view schedule) const {
    return likeness(schedule::find(schedule), recording.trace, cut, table);
  }

  ingest::Recording recording;
  stages::Cut cut;
  SiteTable table;
};

TEST(Recognise, FindsTheScheduleThatWasRecorded) {
  const std::vector<schedule::Schedule> library = schedule::all_sound();
  for (const auto& [name, schedule] :
       {std::pair{"base.r0.json.gz", "torchrec/base"}, std::pair{"sparse.r0.json.gz", "torchrec/sparse_dist"},
        std::pair{"sparse_inplace.r0.ilt", "torchrec/sparse_dist_inplace"},
        std::pair{"fused_snew.r0.json.gz", "torchrec/fused_sparse_dist_new_stream"}}) {
    const Recorded recorded(name);
    const schedule::Schedule* found = recognise(library, recorded.recording.trace, recorded.cut, recorded.table);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->name, schedule);
    EXPECT_EQ(recognise(library, recorded.recording.trace, recorded.cut, recorded.table, 1.01), nullptr);
  }
}

// The fused schedules issue everything in one order; only the stream of the lookup tells them apart. sparse_dist and
// base run on different streams and in another order.
TEST(Recognise, SeesOrderAndStreamsApart) {
  const Recorded fused("fused_snew.r0.json.gz");
  const auto own = fused.like("torchrec/fused_sparse_dist_new_stream");
  const auto sibling = fused.like("torchrec/fused_sparse_dist_current_stream");
  const auto stranger = fused.like("torchrec/base");
  ASSERT_TRUE(own && sibling && stranger);
  EXPECT_DOUBLE_EQ(own->order, sibling->order);
  EXPECT_GT(own->streams, sibling->streams);
  EXPECT_GT(own->order, stranger->order);
}

// The copy of a batch into memory of main's pool waits for main, and that is all that differs: the same calls on the
// same streams.
TEST(Recognise, TellsByTheWaitsThatWereKept) {
  for (const char* name : {"sparse.r0.json.gz", "sparse_inplace.r0.ilt"}) {
    const Recorded recorded(name);
    const auto plain = recorded.like("torchrec/sparse_dist");
    const auto in_place = recorded.like("torchrec/sparse_dist_inplace");
    ASSERT_TRUE(plain && in_place);
    EXPECT_EQ(plain->score(), in_place->score()) << name;
    EXPECT_EQ(in_place->waits > plain->waits, std::string_view(name).starts_with("sparse_inplace")) << name;
    EXPECT_NE(in_place->waits, plain->waits) << name;
  }
}

TEST(Recognise, SaysNothingOfAScheduleThatCannotRun) {
  EXPECT_FALSE(Recorded("base.r0.json.gz").like("recsys/dp_only").has_value());
}

// What a lone rank would exchange is a site without any recorded work, and all that is left of a profile of the host.
TEST(RecordedSchedule, IsNotLookedForWhereNoDeviceWorkWasRecorded) {
  Recorded host_only("base.r0.json.gz");
  for (Site& site : host_only.table.sites) site.instances.clear();
  ASSERT_FALSE(host_only.table.sites.empty());
  try {
    static_cast<void>(recorded_schedule(schedule::all_sound(), host_only.recording.trace, host_only.cut,
                                        host_only.table, host_only.recording.diagnostics, std::nullopt));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNoDeviceWork.name);
  }
}

}  // namespace
}  // namespace interlace::replay
