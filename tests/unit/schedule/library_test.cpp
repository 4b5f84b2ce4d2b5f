#include "simulator/schedule/library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::schedule {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "simulator/schedule/library";

TEST(Library, HoldsEveryFileOfItsFolderUnchanged) {
  std::set<std::string> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (!file.is_regular_file()) continue;
    files.insert(std::filesystem::relative(file.path(), kFolder).replace_extension().generic_string());
  }
  std::set<std::string> built_in;
  for (const LibraryEntry& entry : library()) {
    built_in.insert(std::string(entry.name));
    std::stringstream text;
    text << std::ifstream(kFolder / (std::string(entry.name) + ".json")).rdbuf();
    EXPECT_EQ(entry.text, text.str()) << entry.name;
  }
  EXPECT_EQ(built_in, files);
  EXPECT_EQ(built_in.size(), library().size());
}

TEST(Library, EverySchedulePassesAndIsCalledAsItsFile) {
  for (const LibraryEntry& entry : library()) {
    const Schedule schedule = find(entry.name);
    EXPECT_EQ(schedule.name, entry.name);
    EXPECT_EQ(schedule.source, "built-in " + std::string(entry.name));
    EXPECT_FALSE(schedule.description.empty()) << entry.name;
  }
}

TEST(Library, AllMeansAllButTheHazardous) {
  std::set<std::string> left_out;
  for (const LibraryEntry& entry : library()) left_out.insert(std::string(entry.name));
  for (const Schedule& schedule : all_sound()) EXPECT_EQ(left_out.erase(schedule.name), 1U);
  EXPECT_EQ(left_out, (std::set<std::string>{"recsys/dp_mp_racy", "comms/validate_unsafe", "comms/early_check_async"}));
}

TEST(Library, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    (void)find("sparse_dst");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "schedule.no_such_schedule");
    EXPECT_NE(error.problem().find("did you mean \"torchrec/sparse_dist\""), std::string::npos) << error.what();
  }
}

TEST(Library, LoadTakesNamesAndFiles) {
  EXPECT_EQ(load("torchrec/base").source, "built-in torchrec/base");
  const std::string file = (kFolder / "torchrec/base.json").string();
  EXPECT_EQ(load(file).source, file);
  EXPECT_EQ(load(file).iteration, find("torchrec/base").iteration);
  const auto code_of = [](std::string_view what) -> std::string {
    try {
      (void)load(what);
    } catch (const Error& error) {
      return std::string(error.code());
    }
    return "";
  };
  EXPECT_EQ(code_of("no/such.json"), "schedule.unreadable");
  EXPECT_EQ(code_of("no/such"), "schedule.no_such_schedule");
}

TEST(Library, TheLastPartOfANameIsEnoughWhereItIsOfOneSchedule) {
  EXPECT_EQ(find("sparse_dist").name, "torchrec/sparse_dist");
  EXPECT_EQ(load("dp_only").name, "recsys/dp_only");
  const std::vector<LibraryEntry> entries{{"a/base", ""}, {"a/late", ""}, {"b/base", ""}, {"late", ""}};
  EXPECT_EQ(full_name("a/base", entries), "a/base");
  EXPECT_EQ(full_name("late", entries), "late") << "a whole name goes before a part";
  for (const char* name : {"base", "", "ate", "/base", "a"}) EXPECT_EQ(full_name(name, entries), std::nullopt) << name;
  // Each built-in schedule has a short name: a new one should not take it away from another.
  for (const LibraryEntry& entry : library()) {
    EXPECT_EQ(full_name(entry.name.substr(entry.name.rfind('/') + 1), library()), entry.name);
  }
}

TEST(Library, AFileGoesBeforeAShortNameAFolderDoesNot) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directory("staged");
  std::filesystem::copy_file(kFolder / "torchrec/semi_sync.json", "base");
  EXPECT_EQ(load("staged").name, "torchrec/staged");
  EXPECT_EQ(load("base").name, "torchrec/semi_sync");
  std::filesystem::current_path(before);
}

/// A copy of a built-in schedule that calls itself otherwise.
std::string file_of(const testing::TemporaryFolder& folder, std::string_view schedule, const std::string& name,
                    const std::string& file) {
  Schedule copy = find(schedule);
  copy.name = name;
  return folder.write(file, print(copy)).string();
}

TEST(AskedSchedules, AreEachThereOnce) {
  const testing::TemporaryFolder folder;
  const std::vector<AskedSchedule> asked =
      asked_schedules(std::vector<std::string>{"staged", "all", "torchrec/staged", "recsys/dp_mp_racy", "semi_sync",
                                               file_of(folder, "torchrec/base", "torchrec/base", "copy.json")});
  ASSERT_EQ(asked.size(), all_sound().size() + 1);
  std::set<std::string> by_name;
  for (const AskedSchedule& one : asked) {
    if (one.by_name) by_name.insert(one.schedule.name);
  }
  EXPECT_EQ(by_name,
            (std::set<std::string>{"torchrec/staged", "recsys/dp_mp_racy", "torchrec/semi_sync", "torchrec/base"}));
  EXPECT_EQ(asked.front().schedule.name, "torchrec/staged");
  EXPECT_EQ(asked.back().schedule.name, "recsys/dp_mp_racy");
}

TEST(AskedSchedules, OfOneNameAreToldApartByTheirFiles) {
  const testing::TemporaryFolder folder;
  for (const char* inner : {"a", "b"}) std::filesystem::create_directory(folder.path() / inner);
  const std::string alone = file_of(folder, "torchrec/base", "torchrec/staged", "mine.json");
  const auto names = [](const std::vector<std::string>& wanted) {
    std::vector<std::string> all;
    for (const AskedSchedule& one : asked_schedules(wanted)) all.push_back(one.schedule.name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({alone}), Names{"torchrec/staged+mine"}) << "it is not what is built in";
  EXPECT_EQ(names({alone, "staged", alone}), (Names{"torchrec/staged+mine", "torchrec/staged"}));
  const Names files{file_of(folder, "torchrec/base", "own", "own.json"),
                    file_of(folder, "torchrec/staged", "own", "a/own.json"),
                    file_of(folder, "torchrec/semi_sync", "own", "b/own.json")};
  EXPECT_EQ(names(files), (Names{"own", "own+own", "own+own-2"}));
}

// What stands where in an iteration: "embedding_lookup 0", "wait data_dist main", in host order, for_each unrolled.
std::vector<std::string> program(const Schedule& schedule, const std::vector<Step>& steps) {
  std::vector<std::string> lines;
  for (const Step& step : steps) {
    if (const auto* stage = std::get_if<StageStep>(&step.action)) {
      lines.push_back(std::string(to_string(stage->stage)) + " " + std::to_string(stage->batch));
    } else if (const auto* wait = std::get_if<WaitStep>(&step.action)) {
      const auto* event = std::get_if<std::string>(&wait->source);
      lines.push_back("wait " + (event ? *event : schedule.stream(std::get<StreamIndex>(wait->source)).name) + " " +
                      (wait->waiter ? schedule.stream(*wait->waiter).name : "host"));
    } else if (const auto* group = std::get_if<ForEachModule>(&step.action)) {
      for (std::string& line : program(schedule, group->steps)) lines.push_back(std::move(line));
    }
  }
  return lines;
}
std::vector<std::string> program(std::string_view name) {
  const Schedule schedule = find(name);
  return program(schedule, schedule.iteration);
}

std::ptrdiff_t place(std::string_view name, const std::string& line) {
  const auto lines = program(name);
  const auto found = std::ranges::find(lines, line);
  EXPECT_NE(found, lines.end()) << name << " has no " << line;
  return found - lines.begin();
}

// The variants of the fused pipeline are one program; what differs is the stream behind the name `lookup`.
TEST(Library, FusedVariantsDifferInStreamsOnly) {
  const Schedule data_dist = find("torchrec/fused_sparse_dist");
  const Schedule fresh = find("torchrec/fused_sparse_dist_new_stream");
  const Schedule current = find("torchrec/fused_sparse_dist_current_stream");
  EXPECT_EQ(data_dist.iteration, fresh.iteration);
  EXPECT_EQ(data_dist.iteration, current.iteration);
  const auto real = [](const Schedule& s) { return s.stream(s.resolve(*s.stream_named("lookup"))).name; };
  EXPECT_EQ(real(data_dist), "data_dist");
  EXPECT_EQ(real(fresh), "lookup");
  EXPECT_EQ(real(current), "main");
}

TEST(Library, TheRacySpecimenLacksWhatMakesOverlapSound) {
  auto sound = program("recsys/dp_mp_overlap");
  std::erase(sound, "wait main side");
  EXPECT_EQ(sound, program("recsys/dp_mp_racy"));
}

TEST(Library, SparseDistQueuesTheInputDistBeforeTheCopy) {
  EXPECT_LT(place("torchrec/sparse_dist", "input_dist_start 1"), place("torchrec/sparse_dist", "copy_batch_to_gpu 2"));
  EXPECT_LT(place("torchrec/sparse_dist", "dense_forward 0"), place("torchrec/sparse_dist", "input_dist_wait 1"));
  EXPECT_LT(place("torchrec/sparse_dist", "input_dist_wait 1"), place("torchrec/sparse_dist", "backward 0"));
}

TEST(Library, EnqueueAfterForwardMovesTheCopyAndNothingElse) {
  auto moved = program("torchrec/sparse_dist");
  std::erase(moved, "next_batch 2");
  std::erase(moved, "copy_batch_to_gpu 2");
  const auto behind = std::ranges::find(moved, "dense_forward 0") + 1;
  moved.insert(behind, {"next_batch 2", "copy_batch_to_gpu 2"});
  EXPECT_EQ(moved, program("torchrec/sparse_dist_enqueue_after_forward"));
}

TEST(Library, BeforeOptimizerLooksUpBetweenBackwardAndOptimizer) {
  const std::string name = "torchrec/fused_sparse_dist_before_optimizer";
  EXPECT_LT(place(name, "backward 0"), place(name, "embedding_lookup 1"));
  EXPECT_LT(place(name, "embedding_lookup 1"), place(name, "optimizer_step 0"));
}

TEST(Library, SemiSyncLooksUpTheNextBatchBeforeBackward) {
  EXPECT_LT(place("torchrec/semi_sync", "dense_forward 0"), place("torchrec/semi_sync", "embedding_lookup 1"));
  EXPECT_LT(place("torchrec/semi_sync", "embedding_lookup 1"), place("torchrec/semi_sync", "backward 0"));
  EXPECT_LT(place("torchrec/semi_sync", "optimizer_step 0"), place("torchrec/semi_sync", "zero_grad 0"));
}

TEST(Library, InplaceTakesMemoryOfMainBehindItsWork) {
  const Schedule schedule = find("torchrec/sparse_dist_inplace");
  for (const Step& step : schedule.iteration) {
    const auto* stage = std::get_if<StageStep>(&step.action);
    if (stage == nullptr || stage->stage != Stage::kCopyBatchToGpu) continue;
    EXPECT_EQ(stage->alloc, schedule.stream_named("main"));
    EXPECT_EQ(stage->after, std::vector{*schedule.stream_named("main")});
  }
  EXPECT_EQ(program("torchrec/sparse_dist_inplace"), program("torchrec/sparse_dist"));
}

}  // namespace
}  // namespace interlace::schedule
