#include "cupti_collector/host_events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace interlace::collector {
namespace {

TEST(HostEvents, ComeInTheirOrderWithTheirNames) {
  HostEvents events;
  events.add(HostEvents::Kind::kPush, "outer");
  events.add(HostEvents::Kind::kMark, "");
  events.add(HostEvents::Kind::kPop, {});
  std::vector<std::pair<HostEvents::Kind, std::string>> found;
  Nanoseconds last = 0;
  events.drain([&](const HostEvents::Event& event) {
    found.emplace_back(event.kind, event.name);
    EXPECT_GE(event.time, last);
    last = event.time;
  });
  const decltype(found) expected{
      {HostEvents::Kind::kPush, "outer"}, {HostEvents::Kind::kMark, ""}, {HostEvents::Kind::kPop, ""}};
  EXPECT_EQ(found, expected);
  events.drain([](const HostEvents::Event&) { FAIL() << "they come once"; });
}

TEST(HostEvents, CutLongNames) {
  HostEvents events;
  events.add(HostEvents::Kind::kMark, std::string(10'000, 'x'));
  std::vector<std::string> names;
  events.drain([&](const HostEvents::Event& event) { names.emplace_back(event.name); });
  EXPECT_EQ(names, std::vector{std::string(4'096, 'x')});
}

// Before the first CUDA call there is no writer, and the newest are of use.
TEST(HostEvents, ForgetTheOldestWhereNobodyDrainsYet) {
  HostEvents events;
  constexpr int kHeld = 32'768;  // see below
  for (int i = 0; i < 3 * kHeld; ++i) {
    std::string name = std::to_string(i);
    name.resize(16, '.');
    events.add(HostEvents::Kind::kMark, name);
  }
  EXPECT_EQ(events.forgotten(), 2 * kHeld);
  EXPECT_EQ(events.lost(HostEvents::Teller::kProgram), 0);
  int next = 2 * kHeld;
  events.drain([&](const HostEvents::Event& event) { EXPECT_EQ(std::stoi(std::string(event.name)), next++); });
  EXPECT_EQ(next, 3 * kHeld);
}

// The first who drains comes while threads forget.
TEST(HostEvents, LoseNothingUncountedAsTheWriterComes) {
  constexpr int kEvents = 200'000;
  for (int round = 0; round < 5; ++round) {
    HostEvents events;
    std::atomic<bool> is_full{false};
    std::atomic<bool> is_done{false};
    std::thread program([&] {
      for (int i = 0; i < kEvents; ++i) {
        events.add(HostEvents::Kind::kMark, std::to_string(i) + std::string(static_cast<std::size_t>(i % 50), ' '));
        is_full = events.forgotten() > 0;
      }
      is_done = true;
    });
    while (!is_full && !is_done) std::this_thread::yield();
    EXPECT_TRUE(is_full);
    int last = -1;
    std::int64_t total = 0;
    const auto take = [&](const HostEvents::Event& event) {
      const int value = std::stoi(std::string(event.name));
      EXPECT_GT(value, last);
      last = value;
      ++total;
    };
    events.drain(take);
    program.join();
    events.drain(take);
    EXPECT_EQ(total + events.forgotten() + events.lost(HostEvents::Teller::kProgram), kEvents);
  }
}

TEST(HostEvents, CountWhatIsLost) {
  HostEvents events;
  events.drain([](const HostEvents::Event&) {});  // there is a writer
  // 1 MiB holds 32,768 events of a head and 16 bytes of name.
  for (int i = 0; i < 32'768 + 5; ++i) events.add(HostEvents::Kind::kMark, "sixteen letters.");
  EXPECT_EQ(events.lost(HostEvents::Teller::kProgram), 5);
  events.add(HostEvents::Kind::kNcclTask, "sixteen letters.");
  EXPECT_EQ(events.lost(HostEvents::Teller::kNccl), 1);
  EXPECT_EQ(events.lost(HostEvents::Teller::kProgram), 5);
  int found = 0;
  events.drain([&](const HostEvents::Event&) { ++found; });
  EXPECT_EQ(found, 32'768);
}

// Threads come and go while one drains; each event arrives once, under its thread, in order, around the ring's end too,
// or is counted as lost.
TEST(HostEvents, LoseNothingUncountedBetweenThreads) {
  HostEvents events;
  std::map<std::int64_t, int> last;
  std::int64_t total = 0;
  const auto take = [&](const HostEvents::Event& event) {
    const int value = std::stoi(std::string(event.name));
    if (value == 0) last.erase(event.thread);
    if (last.count(event.thread) > 0) {
      EXPECT_GT(value, last[event.thread]);
    }
    last[event.thread] = value;
    ++total;
  };
  constexpr int kGenerations = 5;
  constexpr int kThreads = 4;
  constexpr int kEvents = 6'000;
  for (int g = 0; g < kGenerations; ++g) {
    std::vector<std::thread> threads;
    std::atomic<int> running = kThreads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEvents; ++i) {
          events.add(HostEvents::Kind::kMark, std::to_string(i) + std::string(static_cast<std::size_t>(i % 50), ' '));
          if (i % 1'000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        --running;
      });
    }
    while (running > 0) events.drain(take);
    for (std::thread& thread : threads) thread.join();
    events.drain(take);
  }
  EXPECT_EQ(total + events.forgotten() + events.lost(HostEvents::Teller::kProgram), kGenerations * kThreads * kEvents);
  EXPECT_GT(total, kThreads * kEvents);
}

/// Tells of an event when its thread ends, as a thread_local tensor does that is freed then.
struct LateTeller {
  HostEvents* events = nullptr;
  LateTeller() = default;
  LateTeller(const LateTeller&) = delete;
  LateTeller& operator=(const LateTeller&) = delete;
  ~LateTeller() {
    if (events != nullptr) events->add(HostEvents::Kind::kMark, "late");
  }
};

/// Of address space, MiB.
std::int64_t mapped() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096 >> 20;
}

// As those of a program that loads data with a thread for each file, and comes to CUDA late or never.
TEST(HostEvents, KeepFewRingsOfEndedThreadsWhereNobodyDrains) {
  HostEvents events;
  constexpr int kThreads = 1'000;
  constexpr int kKept = 256;
  std::int64_t before = 0;
  for (int i = 0; i < kThreads; ++i) {
    if (i == 20) before = mapped();
    std::thread([&] { events.add(HostEvents::Kind::kMark, std::to_string(i)); }).join();
  }
  EXPECT_LT(mapped(), before + kKept + 100);
  std::vector<int> kept;
  std::set<std::int64_t> of;
  events.drain([&](const HostEvents::Event& event) {
    kept.push_back(std::stoi(std::string(event.name)));
    of.insert(event.thread);
  });
  EXPECT_EQ(events.forgotten(), kThreads - kKept);
  EXPECT_EQ(of.size(), static_cast<std::size_t>(kKept)) << "each under its own thread";
  std::ranges::sort(kept);
  ASSERT_EQ(kept.size(), static_cast<std::size_t>(kKept));
  EXPECT_EQ(kept.front(), kThreads - kKept) << "the last are kept";
}

// Made before its thread's first event, it is destroyed behind all that the first event made.
TEST(HostEvents, TakeThoseOfAThreadsLastDestructorsAndKeepNoRingForThem) {
  HostEvents events;
  int late = 0;
  std::int64_t before = 0;
  for (int i = 0; i < 300; ++i) {
    if (i == 20) before = mapped();  // stacks are kept as well
    std::thread([&] {
      thread_local LateTeller teller;
      teller.events = &events;
      events.add(HostEvents::Kind::kMark, "early");
    }).join();
    events.drain([&](const HostEvents::Event& event) { late += event.name == "late" ? 1 : 0; });
  }
  EXPECT_EQ(late, 300);
  EXPECT_EQ(events.lost(HostEvents::Teller::kProgram), 0);
  EXPECT_LT(mapped(), before + 100) << "a ring takes 1 MiB";
}

}  // namespace
}  // namespace interlace::collector
