#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(NamedInputs, AScheduleIsMeantByTheLastPartOfItsName) {
  const auto same_as_by_whole_name = [](const std::string& command, const std::string& name) {
    const Finished by_part = interlace(command + name);
    EXPECT_EQ(by_part.status, 0) << by_part.err;
    EXPECT_EQ(by_part.out, interlace(command + "torchrec/" + name).out) << command;
  };
  same_as_by_whole_name("check ", "sparse_dist");
  same_as_by_whole_name("schedules show ", "semi_sync");
  same_as_by_whole_name("predict --steps 3 --from " + sample("base") + " --schedule ", "staged");
  EXPECT_NE(interlace("schedules validate base").out.find("torchrec/base is well-formed"), std::string::npos);
  const Finished unknown = interlace("check sparse_dst");
  EXPECT_NE(unknown.err.find("did you mean \"torchrec/sparse_dist\""), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace interlace::cli
