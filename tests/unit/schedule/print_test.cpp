#include "simulator/schedule/print.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "simulator/schedule/describe.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {
namespace {

// The form of each file of the library is what print() makes of it, so that `schedules show` and the file agree.
// INTERLACE_UPDATE_GOLDEN=1 writes the files anew in that form; build again to embed them.
TEST(Print, GivesTheLibraryFilesBack) {
  const auto folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "simulator/schedule/library";
  for (const LibraryEntry& entry : library()) {
    const std::string printed = print(parse(entry.text, "x"));
    if (std::getenv("INTERLACE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(folder / fmt::format("{}.json", entry.name), std::ios::binary) << printed;
    }
    EXPECT_EQ(printed, entry.text) << entry.name;
  }
}

TEST(Print, AlignsItsColumns) {
  const Schedule schedule{
      .name = "x",
      .streams = {{.name = "main"}, {.name = "copy", .priority = -1}, {.name = "twin", .same_as = StreamIndex{1}}},
      .iteration = {{StageStep{.stage = Stage::kCopyBatchToGpu, .batch = 1, .stream = StreamIndex{1}}},
                    {WaitStep{StreamIndex{1}, StreamIndex{0}, 0}},
                    {RecordStep{"e", StreamIndex{0}}},
                    {WaitStep{"e", std::nullopt, -1}},
                    {ForEachModule{{{StageStep{.stage = Stage::kCompute}}}}},
                    {ForEachModule{{{StageStep{.stage = Stage::kCompute}}}}}}};
  EXPECT_EQ(print(schedule), R"({
  "interlace_schedule": 1,
  "name": "x",
  "streams": {
    "main": {},
    "copy": {"priority": -1},
    "twin": {"same_as": "copy"}
  },
  "iteration": [
    {"stage": "copy_batch_to_gpu", "batch": 1,  "stream": "copy"},
    {"wait":  "copy",                           "stream": "main"},
    {"record": "e",                             "stream": "main"},
    {"wait":  "e",                 "batch": -1, "on": "host"},
    {"for_each": "module", "do": [
      {"stage": "compute",         "batch": 0,  "stream": "main"}
    ]},
    {"for_each": "module", "do": [
      {"stage": "compute",         "batch": 0,  "stream": "main"}
    ]}
  ]
}
)");
}

TEST(Describe, ShowsEachStepWithItsWaits) {
  const Schedule schedule = parse(R"({"interlace_schedule": 1, "name": "x", "description": "What it is.",
  "streams": {"main": {}, "copy": {"priority": -1}, "twin": {"same_as": "copy"}},
  "iteration": [
    {"stage": "copy_batch_to_gpu", "batch": 1, "stream": "copy", "after": ["main"], "alloc": "main", "record": "e"},
    {"wait": "e", "on": "host", "batch": 0},
    {"wait": "copy", "stream": "main"},
    {"for_each": "module", "do": [
      {"stage": "compute", "batch": 0, "stream": "twin", "record_stream": ["main"]}
    ]}
  ]})",
                                  "x");
  EXPECT_EQ(describe(schedule), R"(x
What it is.
streams: main, copy (priority -1), twin = copy
iterations that fill the pipeline: 1

line  step               batch  stream  waits and notes
4     copy_batch_to_gpu  i+1    copy    after main; memory of main; records e
5     wait               i      host    host waits for event e
6     wait                      main    main waits for copy
7     for each module:
8       compute          i      twin    kept alive on main
)");
}

TEST(Describe, SaysWhereTheHostWaitsAndWhatIsHazardous) {
  const std::string blocking = describe(find("comms/validate_blocking"));
  EXPECT_NE(blocking.find("host waits for main"), std::string::npos) << blocking;
  const std::string sparse_dist = describe(find("torchrec/sparse_dist"));
  EXPECT_NE(sparse_dist.find("host waits for data_dist"), std::string::npos) << sparse_dist;
  EXPECT_EQ(sparse_dist.find("hazardous"), std::string::npos);
  const std::string unsafe = describe(find("comms/validate_unsafe"));
  EXPECT_NE(unsafe.find("hazardous"), std::string::npos);
  EXPECT_NE(unsafe.find("host reads at once, waiting for nothing"), std::string::npos) << unsafe;
}

}  // namespace
}  // namespace interlace::schedule
