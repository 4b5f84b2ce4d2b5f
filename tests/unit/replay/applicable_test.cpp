#include "simulator/replay/applicable.hpp"

#include "simulator/replay/program.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

class Applicable : public RecordedSample {
 protected:
  std::optional<std::string> why_not(const char* name, const std::function<void()>& predict) {
    return predict_if_applicable(schedule::find(name), table, predict);
  }
};

TEST_F(Applicable, PredictsWhatRunsTheRecordedStages) {
  int predicted = 0;
  EXPECT_EQ(why_not("torchrec/staged", [&] { ++predicted; }), std::nullopt);
  EXPECT_EQ(predicted, 1);
}

TEST_F(Applicable, SaysWhichRecordedStageIsLostWithoutPredicting) {
  const auto why = why_not("recsys/dp_only", [] { FAIL() << "predicted"; });
  EXPECT_EQ(why, "recorded stage \"input_dist_start\" is not in it");
}

TEST_F(Applicable, SaysWhichStageWasNotRecordedAndPassesOtherErrorsOn) {
  const auto compiled = [&] {
    static_cast<void>(compile(schedule::find("torchrec/prefetch_sparse_dist"), cut, table));
  };
  const auto why = why_not("torchrec/prefetch_sparse_dist", compiled);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("prefetch"), std::string::npos) << *why;
  const auto other = [] { throw Error(ErrorCode{"other"}, "", "another error"); };
  EXPECT_THROW(static_cast<void>(why_not("torchrec/staged", other)), Error);
}

}  // namespace
}  // namespace interlace::replay
