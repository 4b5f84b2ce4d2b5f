#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "simulator/check/conflicts.hpp"
#include "simulator/check/edits.hpp"
#include "simulator/check/program.hpp"
#include "simulator/check/schedule_check.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/schedule/validate.hpp"
#include "tests/support/interleavings.hpp"

namespace interlace::check {
namespace {

using schedule::Schedule;
using testing_support::explore_all;
using testing_support::explore_some;
using testing_support::Explored;

// Small enough to run in every order: one sharded module, and just batches enough for each stage to meet the next
// batch's.
UnrollOptions small(const Schedule& schedule) {
  UnrollOptions options;
  options.batches = schedule::depth(schedule) + 2;
  options.unnamed_modules = 1;
  return options;
}

bool lifetimes_hold(const Program& program, const HappensBefore& order) {
  return lifetime_conflicts(program, order).empty() && pool_conflicts(program, order).empty();
}

bool clashes(const Program& program) {
  const HappensBefore order(program, false);
  return !unordered_accesses(program, order).empty() || !lifetimes_hold(program, order);
}

std::vector<Schedule> samples(const std::string& folder) {
  std::vector<Schedule> schedules;
  const std::filesystem::path path = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/schedules" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    schedules.push_back(schedule::parse_file(entry.path()));
  }
  std::ranges::sort(schedules, {}, &Schedule::name);
  return schedules;
}

std::vector<Schedule> everything() {
  std::vector<Schedule> all;
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    all.push_back(schedule::find(entry.name));
    all.back().known_hazards.clear();  // what a schedule says of itself changes no order
  }
  for (const char* folder : {"bugs", "repaired"}) {
    for (Schedule& schedule : samples(folder)) all.push_back(std::move(schedule));
  }
  return all;
}

// The verdict on the very program that is run in all orders.
TEST(EveryOrder, ShowsAWrongValueIfAndOnlyIfSomethingClashes) {
  for (const Schedule& schedule : everything()) {
    const Program program = unroll(schedule, small(schedule));
    const Explored explored = explore_all(program);
    EXPECT_TRUE(explored.wrong || explored.complete) << schedule.name;
    EXPECT_EQ(explored.wrong.has_value(), clashes(program))
        << schedule.name << ": " << explored.wrong.value_or("right");
  }
}

// Checkers with a fault, held to the same orders: each is wrong about some schedule, and that shows.
TEST(CheckerFaults, AreSeenByTheOrders) {
  const auto trusts_host_reads = [](const Program& program) {
    const HappensBefore order(program, true);
    return !unordered_accesses(program, order).empty() || !lifetimes_hold(program, order);
  };
  const auto forgets_memory = [](const Program& program) {
    return !unordered_accesses(program, HappensBefore(program, false)).empty();
  };
  const auto forgets_waits = [](const Program& program) {
    Program deaf = program;
    std::erase_if(deaf.instructions, [](const Instruction& instruction) {
      return instruction.kind == Instruction::Kind::kWait && instruction.cause == Instruction::Cause::kWritten;
    });
    const HappensBefore order(deaf, false);
    return !unordered_accesses(deaf, order).empty() || !lifetimes_hold(deaf, order);
  };
  std::size_t acquits_wrongly_by_reads = 0;
  std::size_t acquits_wrongly_by_memory = 0;
  std::size_t convicts_wrongly = 0;
  for (const Schedule& schedule : everything()) {
    const Program program = unroll(schedule, small(schedule));
    const bool goes_wrong = explore_all(program).wrong.has_value();
    acquits_wrongly_by_memory += goes_wrong && !forgets_memory(program) ? 1 : 0;
    convicts_wrongly += !goes_wrong && forgets_waits(program) ? 1 : 0;
  }
  // Here a read of the host is all that holds the lookup back once the wait is gone.
  const Schedule lookup = schedule::parse_file(std::filesystem::path(INTERLACE_SOURCE_DIR) /
                                               "samples/schedules/repaired/lookup_without_data_dist_edge.json");
  for (const WrittenWait& wait : written_waits(lookup)) {
    const Schedule edited = without(lookup, wait);
    const Program program = unroll(edited, small(edited));
    const bool goes_wrong = explore_all(program).wrong.has_value();
    acquits_wrongly_by_reads += goes_wrong && !trusts_host_reads(program) ? 1 : 0;
  }
  EXPECT_GT(acquits_wrongly_by_reads, 0U);
  EXPECT_GT(acquits_wrongly_by_memory, 0U);
  EXPECT_GT(convicts_wrongly, 0U);
}

// The short way of looking at all orders sees what the long way sees.
TEST(EveryOrder, TheShortWayIsAsGoodAsTheLong) {
  std::size_t compared = 0;
  for (const Schedule& schedule : everything()) {
    for (std::int64_t batches = 1; batches <= 3; ++batches) {
      UnrollOptions options = small(schedule);
      options.batches = batches;
      const Program program = unroll(schedule, options);
      const Explored long_way = explore_all(program, {.reduced = false, .limit = 20'000});
      if (!long_way.complete) continue;
      const Explored short_way = explore_all(program);
      EXPECT_EQ(long_way.wrong.has_value(), short_way.wrong.has_value()) << schedule.name << ", " << batches;
      ++compared;
    }
  }
  EXPECT_GT(compared, 40U);
}

// One by one, every wait of every sound schedule is taken out.
TEST(EveryOrder, NeededWaitsAreNeededAndRedundantOnesAreNot) {
  std::size_t needed = 0;
  std::size_t redundant = 0;
  for (const Schedule& schedule : everything()) {
    const ScheduleCheck verdict = check(schedule);
    if (!verdict.hazards.empty()) continue;
    const std::vector<WrittenWait> waits = written_waits(schedule);
    ASSERT_EQ(waits.size(), verdict.waits.size());
    for (std::size_t w = 0; w < waits.size(); ++w) {
      const Schedule edited = without(schedule, waits[w]);
      UnrollOptions options = small(schedule);
      if (verdict.waits[w].use == WaitUse::Use::kPrecaution) continue;
      const bool is_needed = verdict.waits[w].use == WaitUse::Use::kNeeded;
      const Explored explored = explore_all(unroll(edited, options));
      EXPECT_TRUE(explored.wrong || explored.complete) << schedule.name;
      EXPECT_EQ(explored.wrong.has_value(), is_needed) << schedule.name << " without " << waits[w].text;
      ++(is_needed ? needed : redundant);
    }
  }
  EXPECT_GT(needed, 50U);
  EXPECT_GT(redundant, 10U);
}

TEST(RandomOrders, OfManyBatchesAreRightWhereCheckAcquits) {
  for (const Schedule& schedule : everything()) {
    UnrollOptions options;
    options.batches = 8;
    const Explored explored = explore_some(unroll(schedule, options), 1, 60);
    if (check(schedule, {.hazards_only = true}).hazards.empty()) {
      EXPECT_EQ(explored.wrong, std::nullopt) << schedule.name;
    } else {
      EXPECT_TRUE(explored.wrong) << schedule.name;
    }
  }
}

TEST(Repairs, AreRightInEveryOrder) {
  for (const Schedule& schedule : everything()) {
    const ScheduleCheck verdict = check(schedule);
    if (verdict.hazards.empty()) continue;
    ASSERT_TRUE(verdict.repaired) << schedule.name;
    EXPECT_TRUE(schedule::find_problems(*verdict.repaired).empty());
    EXPECT_TRUE(check(*verdict.repaired).hazards.empty()) << schedule.name;
    const Explored explored = explore_all(unroll(*verdict.repaired, small(schedule)));
    EXPECT_TRUE(explored.complete) << schedule.name;
    EXPECT_EQ(explored.wrong, std::nullopt) << schedule.name;
  }
}

// From low to below high, evenly from the first case on.
template <class T>
rc::Gen<T> in_range(T low, T high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

template <class T>
T any_of(const std::vector<T>& values) {
  return values[*in_range<std::size_t>(0, values.size())];
}

// A schedule that somebody could have written: one of ours, with waits, record_stream and streams changed at random.
Schedule any_schedule() {
  static const std::vector<Schedule> kAll = everything();
  Schedule schedule = any_of(kAll);
  const int changes = *in_range(1, 5);
  for (int i = 0; i < changes; ++i) {
    const auto stream = [&] {
      return schedule::StreamIndex{*in_range<std::uint32_t>(0, static_cast<std::uint32_t>(schedule.streams.size()))};
    };
    const auto steps = schedule::placed_steps(schedule);
    const auto waits = written_waits(schedule);
    const schedule::PlacedStep placed = steps[*in_range<std::size_t>(0, steps.size())];
    auto* stage = std::get_if<schedule::StageStep>(&step_at(schedule, placed.at).action);
    switch (*in_range(0, 6)) {
      case 0:
        if (!waits.empty()) schedule = without(schedule, any_of(waits));
        break;
      case 1:
        if (const auto source = stream(), waiter = stream(); source != waiter) {
          insert_above(schedule, placed.at, {schedule::WaitStep{source, waiter}});
        }
        break;
      case 2:
        if (stage != nullptr) stage->record_stream.clear();
        break;
      case 3:
        if (stage != nullptr) stage->record_stream = {stream()};
        break;
      case 4:
        if (stage != nullptr) {
          stage->stream = stream();
          std::erase(stage->after, stage->stream);
        }
        break;
      default:
        if (stage != nullptr) stage->alloc = stream();
    }
  }
  return schedule;
}

RC_GTEST_PROP(AnySchedule, GoesWrongInSomeOrderIfAndOnlyIfSomethingClashes, ()) {
  const Schedule schedule = any_schedule();
  RC_PRE(schedule::find_problems(schedule).empty());
  UnrollOptions options = small(schedule);
  options.collectives = *rc::gen::arbitrary<bool>();
  options.feature_processors = *rc::gen::arbitrary<bool>();
  const Program program = unroll(schedule, options);
  const Explored explored = explore_all(program, {.limit = 30'000});
  if (explored.wrong || explored.complete) {
    if (explored.wrong.has_value() != clashes(program))
      RC_FAIL(schedule::print(schedule) + explored.wrong.value_or(""));
  } else if (!clashes(program)) {
    RC_ASSERT(!explore_some(program, 7, 20).wrong);
  }
}

// What is sound stays so however many batches there are: all that can go wrong shows in the runs that check looks at.
RC_GTEST_PROP(AnySchedule, ThatIsSoundIsSoundForAnyNumberOfBatches, ()) {
  Schedule schedule = any_schedule();
  schedule.known_hazards.clear();
  RC_PRE(schedule::find_problems(schedule).empty());
  UnrollOptions options;
  options.batches = *in_range<std::int64_t>(1, 3 * schedule::depth(schedule) + 5);
  if (clashes(unroll(schedule, options))) RC_ASSERT(!check(schedule, {.hazards_only = true}).hazards.empty());
}

// Adding a wait never makes anything clash.
RC_GTEST_PROP(AnySchedule, IsNoWorseWithAWaitMore, ()) {
  Schedule schedule = any_schedule();
  RC_PRE(schedule::find_problems(schedule).empty());
  const bool before = clashes(unroll(schedule, small(schedule)));
  const auto steps = schedule::placed_steps(schedule);
  const auto at = steps[*in_range<std::size_t>(0, steps.size())].at;
  const auto streams = static_cast<std::uint32_t>(schedule.streams.size());
  RC_PRE(streams > 1U);
  const auto source = *in_range<std::uint32_t>(0, streams);
  const auto waiter = (source + *in_range<std::uint32_t>(1, streams)) % streams;
  insert_above(schedule, at, {schedule::WaitStep{schedule::StreamIndex{source}, schedule::StreamIndex{waiter}}});
  RC_ASSERT(before || !clashes(unroll(schedule, small(schedule))));
}

}  // namespace
}  // namespace interlace::check
