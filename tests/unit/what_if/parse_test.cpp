#include "simulator/what_if/parse.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace interlace::what_if {
namespace {

using replay::WorkKind;
using schedule::Stage;

std::string list_of(const std::string& edit) { return R"({"interlace_edits": 1, "edits": [)" + edit + "]}"; }

template <class Change>
Change one(const std::string& edit) {
  const std::vector<Edit> edits = parse_edits(list_of(edit), "mine.json");
  EXPECT_EQ(edits.size(), 1U);
  return std::get<Change>(edits.front().change);
}

TEST(ParseEdits, ReadsEveryForm) {
  EXPECT_EQ(one<ScaleStage>(R"({"scale": {"stage": "optimizer_step"}, "by": 2})"),
            (ScaleStage{Stage::kOptimizerStep, 2}));
  EXPECT_EQ(one<ScaleKernels>(R"({"scale": {"kernels": "gemm|cut.*"}, "by": 0.5})"), (ScaleKernels{"gemm|cut.*", 0.5}));
  EXPECT_EQ(one<ScaleKind>(R"({"scale": {"kind": "host_copy"}, "by": 3})"), (ScaleKind{WorkKind::kHostCopy, 3}));
  EXPECT_EQ(one<ScaleLink>(R"({"scale": {"link": "gpu"}, "by": 0.25})"), (ScaleLink{Link::kGpu, 0.25}));
  EXPECT_EQ(one<ScaleLink>(R"({"scale": {"link": "host"}, "by": 2})"), (ScaleLink{Link::kHost, 2}));
  EXPECT_EQ(one<ScaleHost>(R"({"scale": {"host": true}, "by": 1.5})"), (ScaleHost{1.5}));
  EXPECT_EQ(one<DropSync>(R"({"drop_sync": {"stage": "input_dist_finish"}})"), (DropSync{Stage::kInputDistFinish}));
  EXPECT_EQ(one<CaptureStage>(R"({"capture": {"stage": "backward"}})"), (CaptureStage{Stage::kBackward, 10'000}));
  EXPECT_EQ(one<CaptureStage>(R"({"capture": {"stage": "backward"}, "host_us": 4})"),
            (CaptureStage{Stage::kBackward, 4'000}));
  EXPECT_EQ(one<AddWork>(R"({"stage": "prefetch", "takes_us": 1.5, "kind": "host_copy", "host_us": 20})"),
            (AddWork{Stage::kPrefetch, 1'500, 20'000, WorkKind::kHostCopy, {}}));
  EXPECT_EQ(one<AddWork>(R"({"stage": "compute", "takes_us": 3, "sms": 66})"),
            (AddWork{Stage::kCompute, 3'000, 10'000, WorkKind::kKernel, 66}));
}

TEST(ParseEdits, SaysWhichEditOfWhichFileIsBad) {
  try {
    static_cast<void>(parse_edits(
        list_of(R"({"scale": {"host": true}, "by": 1.5}, {"scale": {"stage": "lunch"}, "by": 2})"), "mine.json"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "what_if.bad_edit");
    EXPECT_EQ(error.place(), "mine.json: edit 2");
    EXPECT_EQ(error.problem(), "\"lunch\" is not a stage of the schedule language");
  }
}

class BadEdits : public testing::TestWithParam<std::string> {};

TEST_P(BadEdits, AreRefused) {
  try {
    static_cast<void>(parse_edits(GetParam(), "mine.json"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "what_if.bad_edit");
    EXPECT_TRUE(error.place().starts_with("mine.json"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadEdits,
    testing::Values("", "[]", "{", R"({"edits": []})", R"({"interlace_edits": 2, "edits": [{}]})",
                    R"({"interlace_edits": 1})", R"({"interlace_edits": 1, "edits": []})",
                    R"({"interlace_edits": 1, "edits": [], "other": 1})", list_of("3"), list_of("{}"),
                    list_of(R"({"scale": {"stage": "prefetch"}})"),
                    list_of(R"({"scale": {"stage": "prefetch"}, "by": 0})"),
                    list_of(R"({"scale": {"stage": "prefetch"}, "by": -1})"),
                    list_of(R"({"scale": {"stage": "prefetch"}, "by": "2"})"),
                    list_of(R"({"scale": {"stage": "prefetch"}, "by": 1e300})"),
                    list_of(R"({"scale": {"stage": "prefetch"}, "by": 2, "by": 3})"),
                    list_of(R"({"scale": {"stage": "prefetch", "host": true}, "by": 2})"),
                    list_of(R"({"scale": {"kernels": "("}, "by": 2})"),
                    list_of(R"({"scale": {"kind": "kernels"}, "by": 2})"),
                    list_of(R"({"scale": {"link": "moon"}, "by": 2})"),
                    list_of(R"({"scale": {"host": false}, "by": 2})"), list_of(R"({"scale": {"gpu": true}, "by": 2})"),
                    list_of(R"({"drop_sync": "prefetch"})"), list_of(R"({"capture": {"stage": "backward", "by": 2}})"),
                    list_of(R"({"capture": {"stage": "backward"}, "host_us": -1})"),
                    list_of(R"({"stage": "prefetch"})"), list_of(R"({"stage": "prefetch", "takes_us": 0})"),
                    list_of(R"({"stage": "prefetch", "takes_us": 1, "kind": "host_copy", "sms": 3})"),
                    list_of(R"({"stage": "prefetch", "takes_us": 1, "sms": 0})"),
                    list_of(R"({"stage": "prefetch", "takes_us": 1, "host_us": -1})"),
                    list_of(R"({"stage": "input_dist_wait", "takes_us": 1})"),
                    list_of("{\"scale\": {\"stage\": \"\\ud800\"}, \"by\": 2}"),
                    list_of("{\"scale\": {\"stage\": \"\xff\"}, \"by\": 2}")));

TEST(ParseEdits, SaysWhereATextIsNotJson) {
  try {
    static_cast<void>(parse_edits("{\n\"interlace_edits\": }", "mine.json"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(error.problem().starts_with("line 2: not JSON: syntax error")) << error.problem();
  }
}

TEST(ParseEdits, SamplesAreSound) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(INTERLACE_SOURCE_DIR "/samples/edits")) {
    EXPECT_FALSE(read_edits(file.path()).empty()) << file.path();
    ++files;
  }
  EXPECT_GT(files, 1);
  EXPECT_THROW(static_cast<void>(read_edits(INTERLACE_SOURCE_DIR "/samples/edits/absent.json")), Error);
}

TEST(DescribeEdits, InWords) {
  EXPECT_EQ(describe({ScaleStage{Stage::kOptimizerStep, 2}, ""}), "optimizer_step takes 2 times as long on the device");
  EXPECT_EQ(describe({AddWork{Stage::kPrefetch, 1'500, 0, WorkKind::kHostCopy, {}}, ""}),
            "prefetch has a host copy of 1.5 us more");
}

}  // namespace
}  // namespace interlace::what_if
