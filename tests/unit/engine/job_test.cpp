// Jobs of several processes: this program starts itself again, as the ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/gpu/shared_recording.hpp"
#include "engine/gpu/store_place.hpp"
#include "engine/job/await_ranks.hpp"
#include "engine/job/job_store.hpp"
#include "engine/job/start_ranks.hpp"
#include "engine/job/subprocess.hpp"
#include "engine/job/watch.hpp"
#include "engine/runtime/failure.hpp"
#include "simulator/base/start_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::engine {
namespace {

using namespace std::chrono_literals;

constexpr WatchLimits kLimits{.stall = 3'000ms, .lost = 3'000ms, .beat = 20ms};

// Of what the others wait for; a Watch sees meanwhile whether they all go on.
void be_long_at_the_end(const StorePlace& place, const WorldPlace& world, bool is_long, Progress& progress) {
  JobStore store(place);
  const auto until = std::chrono::steady_clock::now() + (is_long ? 2 * kLimits.stall : 0ms);
  while (std::chrono::steady_clock::now() < until) {
    progress.entered("digest");
    std::this_thread::sleep_for(20ms);
    progress.left();
  }
  await_ranks(store, "trained", world.rank, world.ranks, progress);
}

// A rank whose host goes on for good, unless it is the one to play a part: "1 fails".
[[noreturn]] void be_a_rank(const std::string& role) {
  const WorldPlace world = *find_world(process_environment());
  const int actor = std::stoi(role);
  const std::string part = role.substr(role.find(' ') + 1);
  if (part == "ends early") {
    if (world.rank != actor) std::this_thread::sleep_for(60s);
    std::cerr << "error[its.own]: no Watch yet" << std::endl;
    _exit(1);
  }
  const StorePlace place = store_place(world, process_environment());
  const JobStore store(place);
  Progress progress;
  // All ranks write to one file: a line at once, or those of two are one.
  if (part.starts_with("records ")) {
    JobStore own(store.place());
    Progress none;
    try {
      share_recording_folder(own, world, part.substr(part.find(' ') + 1), none);
      std::cerr << process_environment()("INTERLACE_RECORD_RUN").value_or("none") + '\n' << std::flush;
    } catch (const Error& error) {
      std::cerr << std::string(error.code()) + '\n' << std::flush;
    }
    // Whoever holds the store outlasts the others.
    std::this_thread::sleep_for(world.rank == 0 ? 2s : 0s);
    _exit(0);
  }
  WatchLimits limits = kLimits;
  // Who knows why is given some beats to say so first: on a busy machine a short one is over before it runs.
  if (part == "knows why all hang") limits.beat = 300ms;
  std::optional<Watch> watch;
  watch.emplace(
      store.place(), world.rank, world.ranks, progress, limits,
      OnFailure{.tell = [](const Error& error) { std::cerr << error.what() << std::endl; }, .end = [] { _exit(1); }});
  if (part == "knows why all hang" && world.rank == actor) {
    watch->ask_of_stalls([] { return Error(kInternal, "", "no network", ""); });
  }
  if (part == "is long at its end") be_long_at_the_end(place, world, world.rank == actor, progress);
  const auto stop = std::chrono::steady_clock::now() + 60s;
  for (int step = 0; part != "is long at its end" && std::chrono::steady_clock::now() < stop; ++step) {
    progress.entered("backward " + std::to_string(step));
    std::this_thread::sleep_for(20ms);
    if (world.rank == actor && step == 20) {
      if (part == "fails") watch->fail(Error(kInternal, place_of(world.rank, progress.place()), "a fault", ""));
      if (part == "dies") raise(SIGKILL);
      if (part == "hangs") std::this_thread::sleep_for(60s);
      if (part.starts_with("stops")) raise(SIGSTOP);
    }
    if (part == "knows why all hang" && step == 20) std::this_thread::sleep_for(60s);
    if (part == "ends" && step == 20 + 10 * world.rank) break;
    if (part == "stops behind one that is through" && world.rank == actor - 1 && step == 5) break;
    progress.left();
  }
  watch.reset();
  std::exit(0);
}

struct Outcome {
  int status = 0;
  std::string told;
  double seconds = 0.0;
};

// Three ranks that play a part. What they tell goes to standard error.
Outcome job_of(const std::string& part) {
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  const auto began = std::chrono::steady_clock::now();
  std::string lost;
  try {
    outcome.status = start_ranks(this_program(), {"--as-rank", part}, 3);
  } catch (const Error& error) {
    lost = error.what();
    outcome.status = 1;
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  outcome.told = ::testing::internal::GetCapturedStderr() + lost;
  return outcome;
}

// The same without a launcher that holds the store, as mpirun starts them: rank 0 does.
Outcome job_of_rank_0(const std::string& part) {
  const StorePlace place = JobStore({.host = "127.0.0.1", .port = 0, .serves = true, .of_rank_0 = true}).place();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  const auto began = std::chrono::steady_clock::now();
  std::set<pid_t> running;
  for (int rank = 0; rank < 3; ++rank) {
    running.insert(start_program({.program = this_program(),
                                  .arguments = {"--as-rank", part},
                                  .variables = {{"RANK", std::to_string(rank)},
                                                {"LOCAL_RANK", std::to_string(rank)},
                                                {"WORLD_SIZE", "3"},
                                                {"MASTER_ADDR", place.host},
                                                {"MASTER_PORT", std::to_string(place.port)}},
                                  .files = {}}));
  }
  const std::size_t never_ends = part == "0 stops" ? 1 : 0;
  while (running.size() > never_ends) {
    const std::optional<Ended> ended = wait_for_any(40s);
    if (!ended) break;
    outcome.status = std::max(outcome.status, ended->status == 1 ? 1 : 0);
    running.erase(ended->process);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const pid_t process : running) kill(process, SIGKILL);
  while (!running.empty()) running.erase(wait_for_any(20s)->process);
  outcome.told = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Job, EndsWellWhenAllRanksDo) {
  const Outcome outcome = job_of("0 ends");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.told, "");
}

TEST(Job, EndsWellThoughWhoeverStartedItIgnoresEndsOfChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const Outcome outcome = job_of("0 ends");
  std::signal(SIGCHLD, before);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.told, "");
}

// Two ranks wait for one that is long at something, for longer than a rank may stand still.
TEST(Job, RanksThatWaitForOthersAreNotTakenToHang) {
  const Outcome outcome = job_of("1 is long at its end");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.told, "");
  EXPECT_GT(outcome.seconds, 5.0);
}

void expect_told_once(const Outcome& outcome, const std::string& beginning) {
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.told.rfind(beginning, 0), 0U) << outcome.told;
  EXPECT_EQ(outcome.told.find("error[", 1), std::string::npos) << outcome.told;
  EXPECT_LT(outcome.seconds, 30.0);
}

TEST(Job, ARankThatFailsEndsAllAndIsToldOnce) {
  const Outcome outcome = job_of("1 fails");
  expect_told_once(outcome, "error[engine.internal]: rank 1, backward 20: a fault");
}

TEST(Job, AProcessThatIsKilledIsNamedWithItsPlace) {
  const Outcome outcome = job_of("1 dies");
  expect_told_once(outcome, "error[engine.rank_lost]: rank 1, backward ");
  EXPECT_NE(outcome.told.find("signal 9"), std::string::npos) << outcome.told;
}

TEST(Job, ARankThatHangsIsNamedByItsOwnWatch) {
  expect_told_once(job_of("1 hangs"),
                   "error[engine.stalled]: rank 1, backward 20: has not gone on for 3 s (all ranks are ended; "
                   "--stall-limit allows longer)");
}

TEST(Job, OfRanksThatHangThatIsToldWhichKnowsWhy) {
  expect_told_once(job_of("2 knows why all hang"), "error[engine.internal]: rank 2, backward 20: no network");
}

TEST(Job, AProcessThatIsStoppedIsNamedByTheOthersAndKilled) {
  const Outcome outcome = job_of("1 stops");
  // The last place that it told of may be the one before.
  expect_told_once(outcome, "error[engine.rank_lost]: rank 1, backward ");
  EXPECT_NE(outcome.told.find("has given no sign of life for 3 s"), std::string::npos) << outcome.told;
}

TEST(Job, RanksAreSeenOverThoseThatAreThrough) {
  expect_told_once(job_of("2 stops behind one that is through"), "error[engine.rank_lost]: rank 2, backward ");
}

// The others, which have no Watch yet either, are killed: that is no failure of theirs.
TEST(Job, ARankThatEndsBeforeItHasAWatchHasToldWhy) {
  const Outcome outcome = job_of("1 ends early");
  expect_told_once(outcome, "error[its.own]: no Watch yet");
}

TEST(JobOfRank0, ItsFailureIsToldOnceThoughTheStoreGoesWithIt) {
  expect_told_once(job_of_rank_0("0 fails"), "error[engine.internal]: rank 0, backward 20: a fault");
}

TEST(JobOfRank0, TheFailureOfAnotherIsToldOnce) {
  expect_told_once(job_of_rank_0("1 fails"), "error[engine.internal]: rank 1, backward 20: a fault");
}

void expect_told_of_rank_0(const Outcome& outcome, const std::string& how) {
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.told.rfind("error[engine.rank_lost]: rank 0, backward ", 0), 0U) << outcome.told;
  EXPECT_NE(outcome.told.find(how), std::string::npos) << outcome.told;
  EXPECT_LT(outcome.seconds, 30.0);
}

TEST(JobOfRank0, WhereItDiesTheOthersEndAndSayWhereItStood) {
  expect_told_of_rank_0(job_of_rank_0("0 dies"), ": is gone, and with it the store of the job");
}

// No call of the store comes back then.
TEST(JobOfRank0, WhereItStopsTheOthersEndAndSayWhereItStood) {
  expect_told_of_rank_0(job_of_rank_0("0 stops"), ": has given no sign of life for 3 s");
}

TEST(JobOfRank0, ARecordingHasOneFolderAndOneRunForAllRanks) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path made = folder.path() / "a" / "b";
  std::istringstream runs(job_of_rank_0("0 records " + made.string()).told);
  std::vector<std::string> told;
  for (std::string run; runs >> run;) told.push_back(run);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].size(), 16U);
  EXPECT_EQ(told[1], told[0]);
  EXPECT_EQ(told[2], told[0]);
  EXPECT_TRUE(std::filesystem::is_directory(made));
}

TEST(JobStore, GivesWhatWasPutAndTheFirstClaim) {
  JobStore server({.host = "127.0.0.1", .port = 0, .serves = true});
  JobStore client(server.place());
  EXPECT_FALSE(client.has("a"));
  server.put("a", std::string("x\0y", 3));
  // get() waits for what is under way; put() does not wait until the store has it.
  EXPECT_EQ(client.get("a"), std::string("x\0y", 3));
  EXPECT_TRUE(client.has("a"));
  EXPECT_TRUE(client.claim("b", "client"));
  EXPECT_FALSE(server.claim("b", "server"));
  EXPECT_EQ(server.get("b"), "client");
  EXPECT_TRUE(server.claim("c", "the same"));
  EXPECT_FALSE(client.claim("c", "the same"));
}

// As of two attempts of one run, whose store torchrun's agent keeps.
TEST(JobStore, AttemptsSeeNothingOfEachOther) {
  JobStore server({.host = "127.0.0.1", .port = 0, .serves = true});
  StorePlace place = server.place();
  place.attempt = "run/0";
  JobStore first(place);
  EXPECT_EQ(first.place().attempt, "run/0");
  EXPECT_TRUE(first.claim(kFailureKey, "of the first attempt"));
  place.attempt = "run/1";
  JobStore second(place);
  EXPECT_EQ(first.get(kFailureKey), "of the first attempt");
  EXPECT_FALSE(second.has(kFailureKey));
  EXPECT_TRUE(second.claim(kFailureKey, "of the second"));
  EXPECT_FALSE(server.has(kFailureKey));
}

// Neither LibTorch's log nor its backtraces.
void expect_one_line(const std::function<void()>& call) {
  ::testing::internal::CaptureStderr();
  try {
    call();
    ADD_FAILURE() << "reached";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "engine.job_store");
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(JobStore, WhereNobodyHoldsItThatIsOneLine) {
  auto server = std::make_unique<JobStore>(StorePlace{.host = "127.0.0.1", .port = 0, .serves = true});
  const StorePlace place = server->place();
  JobStore client(place);
  server.reset();
  expect_one_line([&] { static_cast<void>(client.has("a")); });
  const auto began = std::chrono::steady_clock::now();
  expect_one_line([&] { const JobStore late(place, std::chrono::seconds(1)); });
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(StorePlace, FollowsTheVariablesOfTheLauncher) {
  const auto place_of = [](int rank, const std::map<std::string, std::string>& variables) {
    return store_place(WorldPlace{.rank = rank, .ranks = 2, .local_rank = rank, .starter = "torchrun"},
                       [&](const char* name) {
                         const auto found = variables.find(name);
                         return found == variables.end() ? std::nullopt : std::optional(found->second);
                       });
  };
  const StorePlace own = place_of(0, {{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}});
  EXPECT_EQ(own.host, "node1");
  EXPECT_EQ(own.port, 29500);
  EXPECT_TRUE(own.serves);
  EXPECT_FALSE(place_of(1, {{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}}).serves);
  EXPECT_FALSE(
      place_of(0, {{"MASTER_ADDR", "n"}, {"MASTER_PORT", "1"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}}).serves);
  EXPECT_EQ(own.attempt, "");
  const std::map<std::string, std::string> restarted = {{"MASTER_ADDR", "n"},
                                                        {"MASTER_PORT", "1"},
                                                        {"TORCHELASTIC_RUN_ID", "night"},
                                                        {"TORCHELASTIC_RESTART_COUNT", "2"}};
  EXPECT_EQ(place_of(1, restarted).attempt, "night/2");
  // The store of start_ranks() is of this attempt alone, and start_ranks() looks into it.
  std::map<std::string, std::string> started_here = restarted;
  started_here.emplace(kStoreIsHeld, "1");
  EXPECT_EQ(place_of(1, started_here).attempt, "");
  EXPECT_THROW(static_cast<void>(place_of(0, {{"MASTER_ADDR", "node1"}})), Error);
  EXPECT_THROW(static_cast<void>(place_of(0, {{"MASTER_ADDR", "n"}, {"MASTER_PORT", "70000"}})), Error);
  EXPECT_TRUE(store_place(std::nullopt, process_environment()).serves);
}

}  // namespace
}  // namespace interlace::engine

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--as-rank") interlace::engine::be_a_rank(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
