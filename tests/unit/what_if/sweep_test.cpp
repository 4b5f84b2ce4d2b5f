#include "simulator/what_if/sweep.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/what_if/parse.hpp"

namespace interlace::what_if {
namespace {

const std::string kLink = R"({"scale": {"link": "gpu"}, "by": 0.25})";
const std::string kHost = R"({"scale": {"host": true}, "by": 1.5})";
const std::string kDrop = R"({"drop_sync": {"stage": "input_dist_finish"}})";
const std::string kCapture = R"({"capture": {"stage": "dense_forward"}})";

std::vector<Edit> edits_of(const std::string& edits) {
  return parse_edits(R"({"interlace_edits": 1, "edits": [)" + edits + "]}", "mine.json");
}

std::string marked(std::string edit) { return edit.insert(edit.size() - 1, R"(, "swept": true)"); }

/// The error that this ends with.
template <class Do>
Error refused(Do work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return {kBadSweep, "", "", ""};
}

Error unclear(const std::string& edits) {
  return refused([&] { static_cast<void>(Sweep(edits_of(edits))); });
}

TEST(Sweep, VariesTheOnlyEditWithANumber) {
  const Sweep sweep(edits_of(kDrop + "," + kLink + "," + kCapture));
  EXPECT_EQ(sweep.unit(), SweptUnit::kTimes);
  EXPECT_EQ(sweep.usual(), 1.0);  // as recorded, whatever the file says
  const std::vector<Edit> edits = sweep.at(3);
  ASSERT_EQ(edits.size(), 3U);
  EXPECT_EQ(std::get<ScaleLink>(edits[1].change), (ScaleLink{Link::kGpu, 3}));
  EXPECT_EQ(describe(sweep.swept(), "x"), "the link between GPUs has x times the bandwidth");
  ASSERT_EQ(sweep.others().size(), 2U);
  EXPECT_TRUE(std::holds_alternative<DropSync>(sweep.others().front().change));
}

TEST(Sweep, VariesTheMarkedOneOfSeveral) {
  const Sweep sweep(edits_of(kLink + "," + marked(kHost)));
  const std::vector<Edit> edits = sweep.at(2);
  EXPECT_EQ(std::get<ScaleLink>(edits[0].change), (ScaleLink{Link::kGpu, 0.25}));
  EXPECT_EQ(std::get<ScaleHost>(edits[1].change), ScaleHost{2});
}

TEST(Sweep, VariesHowLongAGivenStageTakes) {
  const Sweep sweep(edits_of(R"({"stage": "prefetch", "takes_us": 500, "host_us": 20})"));
  EXPECT_EQ(sweep.unit(), SweptUnit::kMicroseconds);
  EXPECT_EQ(sweep.usual(), 500);
  const std::vector<Edit> edits = sweep.at(0.25);
  EXPECT_EQ(std::get<AddWork>(edits.front().change).takes, 250);
  EXPECT_EQ(std::get<AddWork>(edits.front().change).host, 20'000);
}

TEST(Sweep, RefusesWhatItCannotTellApart) {
  const Error both = unclear(kLink + "," + kHost);
  EXPECT_EQ(both.code(), "what_if.unclear_sweep");
  EXPECT_EQ(both.place(), "mine.json: edit 2");
  EXPECT_NE(both.advice().find("\"swept\": true"), std::string::npos);
  EXPECT_EQ(unclear(kDrop + "," + kCapture).code(), "what_if.unclear_sweep");
  EXPECT_EQ(unclear(marked(kLink) + "," + marked(kHost)).code(), "what_if.unclear_sweep");
  EXPECT_EQ(refused([] { static_cast<void>(edits_of(marked(kDrop))); }).code(), "what_if.bad_edit");
}

TEST(SweepValues, AreAscendingAndEachOnce) {
  EXPECT_EQ(sweep_values("2,0.5,1,2", SweptUnit::kTimes), (std::vector<double>{0.5, 1, 2}));
}

TEST(SweepValues, OfARangeLieInEqualRatiosOrEqualSteps) {
  EXPECT_EQ(sweep_values("0.25:4:5", SweptUnit::kTimes), (std::vector<double>{0.25, 0.5, 1, 2, 4}));
  EXPECT_EQ(sweep_values("4:0.25:3,1.5", SweptUnit::kTimes), (std::vector<double>{0.25, 1, 1.5, 4}));
  // The root of two, to four digits.
  EXPECT_EQ(sweep_values("1:2:3", SweptUnit::kTimes), (std::vector<double>{1, 1.414, 2}));
  EXPECT_EQ(sweep_values("100:400:4", SweptUnit::kMicroseconds), (std::vector<double>{100, 200, 300, 400}));
}

TEST(SweepValues, RefuseWhatIsNone) {
  for (const char* list : {"", "1,,2", "fast", "0", "-1", "nan", "inf", "1e7", "1 2", "1:2", "1:2:1", "1:2:3:4",
                           "1:2:x", "1:2:2000", "1:2:900,3:4:900"}) {
    EXPECT_EQ(refused([&] { static_cast<void>(sweep_values(list, SweptUnit::kTimes)); }).code(), "what_if.bad_sweep")
        << list;
  }
  EXPECT_EQ(sweep_values("1e7", SweptUnit::kMicroseconds), std::vector<double>{1e7});
}

}  // namespace
}  // namespace interlace::what_if
