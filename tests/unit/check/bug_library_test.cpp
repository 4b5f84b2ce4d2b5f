#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "simulator/check/schedule_check.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::check {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/schedules";

// What is wrong, as a user reads it: kind, datum.
using Charges = std::set<std::pair<std::string, std::string>>;

Charges charges(const ScheduleCheck& result) {
  Charges charges;
  for (const Hazard& hazard : result.hazards) charges.emplace(to_string(hazard.kind), hazard.datum);
  for (const LostOverlap& lost : result.lost_overlaps) charges.emplace("lost_overlap", lost.needless);
  for (const PointlessStream& stream : result.pointless_streams) charges.emplace("pointless_stream", stream.stream);
  return charges;
}

ScheduleCheck check_file(const std::string& name) { return check(schedule::parse_file(kFolder / (name + ".json"))); }

const std::map<std::string, Charges> kBugs{
    {"side_stream_without_wait", {{"read_before_write", "batch(i)"}}},
    {"lookup_without_data_dist_edge", {{"read_before_write", "kjt(i)"}, {"free_before_last_use", "kjt(i-1)"}}},
    {"semi_sync_inplace_without_event", {{"read_before_write", "batch(i+2)"}}},
    {"stash_reuses_freed_memory", {{"free_before_last_use", "tables"}}},
    {"output_exchange_not_recorded", {{"free_before_last_use", "output_exchange(i)"}}},
    {"validation_read_before_event", {{"host_read_of_unfinished_copy", "the copy(i)"}}},
    {"host_stalls_on_next_copy", {{"lost_overlap", "copy_batch_to_gpu(i+2)"}}},
    {"side_stream_for_nothing", {{"pointless_stream", "side"}}},
};

TEST(BugLibrary, EachBugIsConvictedOfWhatItIs) {
  for (const auto& [name, expected] : kBugs) {
    const ScheduleCheck result = check_file("bugs/" + name);
    EXPECT_EQ(charges(result), expected) << name;
    for (const Hazard& hazard : result.hazards) EXPECT_TRUE(hazard.fix) << name;
    EXPECT_EQ(result.repaired.has_value(), !result.hazards.empty()) << name;
  }
}

TEST(BugLibrary, WasteIsMendedOnceHazardsAre) {
  for (const auto& [name, expected] : kBugs) {
    const schedule::Schedule bug = schedule::parse_file(kFolder / ("bugs/" + name + ".json"));
    const ScheduleCheck result = check(bug);
    const schedule::Schedule sound = result.repaired ? *result.repaired : bug;
    const auto thrifty = without_waste(sound);
    EXPECT_EQ(thrifty.has_value(), !charges(check(sound)).empty()) << name;
    if (!thrifty) continue;
    EXPECT_EQ(charges(check(*thrifty)), Charges{}) << name;
    EXPECT_TRUE(schedule::find_problems(*thrifty).empty()) << name;
  }
}

TEST(BugLibrary, EachRepairedTwinIsAcquitted) {
  for (const auto& [name, expected] : kBugs) EXPECT_EQ(charges(check_file("repaired/" + name)), Charges{}) << name;
}

TEST(BugLibrary, SchedulesFoundByPredictionAreSound) {
  EXPECT_EQ(charges(check_file("found/semi_sync_ids_first")), Charges{});
}

TEST(BugLibrary, HoldsNothingElse) {
  for (const char* folder : {"bugs", "repaired"}) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder / folder)) {
      files.insert(entry.path().stem().string());
    }
    std::set<std::string> names;
    for (const auto& [name, expected] : kBugs) names.insert(name);
    EXPECT_EQ(files, names) << folder;
  }
}

TEST(BugLibrary, SchedulesThatRaceSayThatTheyAreHazardous) {
  for (const auto& [name, expected] : kBugs) {
    const schedule::Schedule bug = schedule::parse_file(kFolder / ("bugs/" + name + ".json"));
    EXPECT_EQ(bug.hazardous, !check(bug, {.hazards_only = true}).hazards.empty()) << name;
  }
}

// The fixes that were made when these bugs were found.
TEST(BugLibrary, FixesAreThoseOfTheIssues) {
  const ScheduleCheck lookup = check_file("bugs/lookup_without_data_dist_edge");
  ASSERT_EQ(lookup.hazards.size(), 2U);
  EXPECT_EQ(lookup.hazards[0].fix->text.find(R"({"wait": "data_dist", "stream": "lookup"} above line)"), 0U);
  EXPECT_EQ(lookup.hazards[1].fix->text.find(R"("lookup" in "record_stream" of line)"), 0U);
  EXPECT_EQ(check_file("bugs/stash_reuses_freed_memory").hazards.at(0).fix->text.find(R"("d2h" in "record_stream")"),
            0U);
  EXPECT_EQ(
      check_file("bugs/side_stream_without_wait").hazards.at(0).fix->text.find(R"({"wait": "main", "stream": "side"})"),
      0U);
  const LostOverlap stall = check_file("bugs/host_stalls_on_next_copy").lost_overlaps.at(0);
  EXPECT_EQ(stall.waiter, "input_dist_start(i+1)");
  EXPECT_LT(stall.needless_line, stall.wait_line);
}

}  // namespace
}  // namespace interlace::check
