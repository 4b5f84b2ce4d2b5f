#include "simulator/replay/machine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace interlace::replay {
namespace {

using contention::ActiveWork;
using contention::Bound;

constexpr StreamIndex kMainStream{0};
constexpr StreamIndex kSideStream{1};

/// Times below are chosen so that the launch latency (10), the dispatch gap (1) and the wait latency (4) show; what
/// streams of one command queue delay each other by does only where a test says so.
class MachineTest : public testing::Test {
 protected:
  MachineOptions options{.launch_latency_ns = 10, .wait_latency_ns = 4, .fetch_delays = {0, 0}, .contention = true};
  Machine machine{1, {{"main", 0}, {"side", 0}}, 132, options};

  static Work copy(StreamIndex stream, double called, double alone, std::uint32_t rank = 0) {
    Work w;
    w.kind = WorkKind::kHostCopy;
    w.rank = rank;
    w.stream = stream;
    w.called_ns = called;
    w.dispatch_gap_ns = 1;
    w.active.kind = ActiveWork::Kind::kCopy;
    w.active.alone_ns = alone;
    return w;
  }
  static Work kernel(StreamIndex stream, double called, double alone, std::int64_t blocks) {
    Work w = copy(stream, called, alone);
    w.kind = WorkKind::kKernel;
    w.active.kind = ActiveWork::Kind::kKernel;
    w.active.shape = {.bound = Bound::kStreaming, .blocks = blocks, .blocks_per_sm = 8, .sm_count = 132};
    return w;
  }
  static Work collective(std::uint32_t rank, double called, double alone) {
    Work w = copy(kSideStream, called, alone, rank);
    w.kind = WorkKind::kCollective;
    w.active.kind = ActiveWork::Kind::kCollective;
    w.active.ctas = 2;
    return w;
  }
  static void drain(Machine& m) {
    m.settle();
    while (const auto next = m.next_change()) {
      m.advance(*next);
      m.settle();
    }
  }
};

TEST_F(MachineTest, AStreamIsFirstInFirstOut) {
  const WorkId a = machine.launch(copy(kMainStream, 0, 100));
  const WorkId b = machine.launch(copy(kMainStream, 0, 50));
  drain(machine);
  EXPECT_DOUBLE_EQ(*machine.works()[a.index()].start_ns, 10);
  EXPECT_DOUBLE_EQ(*machine.works()[a.index()].end_ns, 110);
  EXPECT_DOUBLE_EQ(*machine.works()[b.index()].start_ns, 111);
  EXPECT_DOUBLE_EQ(*machine.works()[b.index()].end_ns, 161);
}

TEST_F(MachineTest, WorksThatRunGoOnAsMoreAreLaunchedThanThereWasRoomFor) {
  const WorkId first = machine.launch(copy(kMainStream, 0, 100));
  machine.settle();
  machine.advance(10);
  machine.settle();
  machine.advance(60);
  for (int i = 0; i < 1000; ++i) machine.launch(copy(kSideStream, 60, 1));
  drain(machine);
  EXPECT_DOUBLE_EQ(*machine.works()[first.index()].end_ns, 110);
}

TEST_F(MachineTest, TellsInWhichOrderWorksStarted) {
  const WorkId late = machine.launch(copy(kMainStream, 50, 100));
  const WorkId early = machine.launch(copy(kSideStream, 0, 10));
  const WorkId last = machine.launch(copy(kSideStream, 0, 80));
  drain(machine);
  EXPECT_EQ(std::move(machine).take_started(), (std::vector{early, last, late}));
}

// A what-if may make a step take hours, and then a double tells apart no more than hundredths of a nanosecond.
TEST_F(MachineTest, TimeGoesOnAfterHours) {
  constexpr double kDay = 24 * 3600e9;
  for (int i = 0; i < 100; ++i) {
    machine.launch(copy(kMainStream, kDay, 7.003));
    machine.launch(copy(kSideStream, kDay, 5.0005 + i * 0.001));
  }
  machine.settle();
  int changes = 0;
  for (auto next = machine.next_change(); next && changes < 10'000; next = machine.next_change(), ++changes) {
    machine.advance(*next);
    machine.settle();
  }
  EXPECT_LT(changes, 10'000);
  EXPECT_NEAR(*machine.works().back().end_ns - kDay, 100 * 6.05, 10);
}

TEST_F(MachineTest, StreamsOverlapUnlessOneWaits) {
  machine.launch(copy(kMainStream, 0, 100));
  const WorkId beside = machine.launch(copy(kSideStream, 0, 30));
  machine.wait(0, kSideStream, machine.record(0, kMainStream));
  const WorkId after = machine.launch(copy(kSideStream, 0, 5));
  drain(machine);
  EXPECT_DOUBLE_EQ(*machine.works()[beside.index()].start_ns, 10);
  EXPECT_DOUBLE_EQ(*machine.works()[after.index()].start_ns, 110 + 4);
}

/// When the second of two kernels on a stream starts after the first has ended, while another stream waits for a copy.
class CommandQueueTest : public MachineTest {
 protected:
  CommandQueueTest() { options.fetch_delays = {.beside_work_ns = 20, .beside_copies_ns = 50}; }

  [[nodiscard]] double gap(double with_main, const Work& waits, bool from_host, bool in_graph = false) const {
    constexpr StreamIndex kCopies{2};
    Machine m{1, {{"main", 0, 1.0}, {"side", 0, with_main}, {"copies", 0, 1.0}}, 132, options};
    Work copied = copy(kCopies, 0, 1000);
    copied.engine = from_host ? CopyEngine::kToDevice : CopyEngine::kToHost;
    m.launch(copied);
    m.wait(0, kSideStream, m.record(0, kCopies));
    m.launch(waits);
    Work one = kernel(kMainStream, 0, 100, 10);
    one.in_graph = in_graph;
    const WorkId first = m.launch(one);
    const WorkId second = m.launch(one);
    drain(m);
    return *m.works()[second.index()].start_ns - *m.works()[first.index()].end_ns;
  }
};

TEST_F(CommandQueueTest, AStreamThatWaitsDelaysKernelsOfItsQueue) {
  const Work waits = kernel(kSideStream, 0, 50, 10);
  EXPECT_DOUBLE_EQ(gap(1.0, waits, false), 1 + 20);
  EXPECT_DOUBLE_EQ(gap(0.0, waits, false), 1);
  EXPECT_DOUBLE_EQ(gap(kUnknownQueue, waits, false), 1 + 10);
}

TEST_F(CommandQueueTest, ACopyFromTheHostMakesThatDelayLonger) {
  const Work waits = kernel(kSideStream, 0, 50, 10);
  EXPECT_DOUBLE_EQ(gap(1.0, waits, true), 1 + 50);
  EXPECT_DOUBLE_EQ(gap(0.0, waits, true), 1);
}

TEST_F(CommandQueueTest, WaitingCopiesDelayNothing) { EXPECT_DOUBLE_EQ(gap(1.0, copy(kSideStream, 0, 50), true), 1); }

TEST_F(CommandQueueTest, NothingIsFetchedForTheKernelsOfAGraph) {
  EXPECT_DOUBLE_EQ(gap(1.0, kernel(kSideStream, 0, 50, 10), true, true), 1);
}

TEST_F(CommandQueueTest, WithoutContentionNothingIsDelayed) {
  options.contention = false;
  EXPECT_DOUBLE_EQ(gap(1.0, kernel(kSideStream, 0, 50, 10), true), 1);
}

TEST_F(MachineTest, AHostCopyIsSlowedByCollectivesThatMoveDataNotByThoseThatWait) {
  options.collectives_cross_host = true;
  options.host_copy_rate = 0.5;
  options.lost_to_host_copies = 0;
  Machine two{2, {{"main", 0}, {"side", 0}}, 132, options};
  const WorkId copied = two.launch(copy(kMainStream, 0, 1000));
  two.launch(collective(0, 0, 200));
  two.launch(collective(1, 400, 200));  // waits for this one until 410
  drain(two);
  EXPECT_NEAR(*two.works()[copied.index()].end_ns, 10 + 1000 + 100, 0.01);
}

// From 10 to 110 the copies of one rank take 0.4 of its pace, until 210 those of both no more than that.
// docs/benchmarks/placement, 13: a copy waits for one in its direction, and is slowed by one in the other.
TEST_F(MachineTest, CopiesOfOneDirectionFollowEachOther) {
  Machine m(1, {{"main", 0}, {"side", 0}, {"third", 0}}, 132, options);
  const auto launch = [&](std::uint32_t stream, double called, double alone, CopyEngine engine) {
    Work work = copy(StreamIndex{stream}, called, alone);
    work.engine = engine;
    m.launch(work);
  };
  launch(0, 0, 100, CopyEngine::kToDevice);
  launch(1, 40, 30, CopyEngine::kToDevice);
  launch(2, 20, 50, CopyEngine::kToDevice);
  drain(m);
  const auto at = [&](std::size_t work) { return std::pair(*m.works()[work].start_ns, *m.works()[work].end_ns); };
  EXPECT_DOUBLE_EQ(at(0).second - at(0).first, 100);
  EXPECT_DOUBLE_EQ(at(2).first, at(0).second) << "it was ready before the other";
  EXPECT_DOUBLE_EQ(at(2).second - at(2).first, 50);
  EXPECT_DOUBLE_EQ(at(1).first, at(2).second);
}

TEST_F(MachineTest, CopiesOfBothDirectionsSlowEachOther) {
  Work up = copy(StreamIndex{0}, 0, 92);
  up.engine = CopyEngine::kToDevice;
  Work down = copy(kSideStream, 0, 92);
  down.engine = CopyEngine::kToHost;
  machine.launch(up);
  machine.launch(down);
  drain(machine);
  for (const Work& work : machine.works()) EXPECT_NEAR(*work.end_ns - *work.start_ns, 100, 1e-6);
}

TEST_F(MachineTest, CopiesOfOneRankCostACollectiveAsMuchAsThoseOfAll) {
  options.collectives_cross_host = true;
  options.lost_to_host_copies = 0.4;
  Machine two{2, {{"main", 0}, {"side", 0}}, 132, options};
  two.launch(copy(kMainStream, 0, 200));
  two.launch(copy(kMainStream, 100, 100, 1));
  const WorkId exchange = two.launch(collective(0, 0, 200));
  two.launch(collective(1, 0, 200));
  drain(two);
  EXPECT_NEAR(*two.works()[exchange.index()].end_ns, 10 + 200 + (200 - 0.6 * 200), 0.01);
}

TEST_F(MachineTest, ARecordOnAnIdleStreamIsDoneAtOnce) {
  EXPECT_TRUE(machine.done_at(machine.record(0, kMainStream)).has_value());
}

TEST_F(MachineTest, AWaitMadeBeforeARecordOnAnIdleStreamGotThereIsOneMore) {
  machine.wait(0, kSideStream, machine.record(0, kMainStream));
  const WorkId at_once = machine.launch(kernel(kSideStream, 0, 50, 10));
  drain(machine);
  EXPECT_EQ(machine.works()[at_once.index()].delays.waits, 1);
  const TokenId recorded = machine.record(0, kMainStream);
  machine.advance(*machine.works()[at_once.index()].end_ns + 10);  // the launch latency
  machine.wait(0, kSideStream, recorded);
  const WorkId later = machine.launch(kernel(kSideStream, 0, 50, 10));
  drain(machine);
  EXPECT_EQ(machine.works()[later.index()].delays.waits, 0);
}

TEST_F(MachineTest, KernelsOfEqualPriorityOverlapOnlyInTheTail) {
  const WorkId first = machine.launch(kernel(kMainStream, 0, 400, 132 * 8 * 4));  // four waves of 100
  const WorkId second = machine.launch(kernel(kSideStream, 0, 50, 10));
  drain(machine);
  EXPECT_NEAR(*machine.works()[second.index()].start_ns, 10 + 300, 0.01);
  EXPECT_NEAR(*machine.works()[first.index()].end_ns, 410, 0.01);
}

TEST_F(MachineTest, WithoutContentionTheyDoNotMeet) {
  options.contention = false;
  Machine free{1, {{"main", 0}, {"side", 0}}, 132, options};
  free.launch(kernel(kMainStream, 0, 400, 132 * 8 * 4));
  const WorkId second = free.launch(kernel(kSideStream, 0, 50, 10));
  drain(free);
  EXPECT_DOUBLE_EQ(*free.works()[second.index()].start_ns, 10);
}

TEST_F(MachineTest, ACollectiveEndsTogetherAfterTheLastArrival) {
  Machine two{2, {{"main", 0}, {"side", 0}}, 132, options};
  const WorkId early = two.launch(collective(0, 0, 70));
  const WorkId late = two.launch(collective(1, 500, 70));
  drain(two);
  EXPECT_DOUBLE_EQ(*two.works()[early.index()].start_ns, 10);
  EXPECT_DOUBLE_EQ(*two.works()[early.index()].arrival_ns, 510);
  EXPECT_DOUBLE_EQ(*two.works()[early.index()].end_ns, 580);
  EXPECT_DOUBLE_EQ(*two.works()[late.index()].end_ns, 580);
}

TEST_F(MachineTest, TheTimeOfACollectiveByItselfHasThePlacingOfItsCtasInIt) {
  Work exchange = collective(0, 0, 6'000);
  exchange.active.ctas = 32;
  const WorkId id = machine.launch(exchange);
  drain(machine);
  EXPECT_DOUBLE_EQ(*machine.works()[id.index()].end_ns, 6'010);
}

// Half of its CTAs have an SM when a matrix multiplication takes the rest.
TEST_F(MachineTest, ACollectiveThatLacksRoomGoesAtThePaceOfTheCtasThatHaveIt) {
  Work exchange = collective(0, 0, 8'000);
  exchange.active.ctas = 32;
  const WorkId id = machine.launch(exchange);
  Work gemm = kernel(kMainStream, 3'500, 100'000, 132 * 20);
  gemm.active.shape.bound = Bound::kCompute;
  machine.launch(gemm);
  drain(machine);
  EXPECT_NEAR(*machine.works()[id.index()].end_ns, 3'510 + 2 * 4'500, 1);
}

TEST_F(MachineTest, ACollectiveSlowsDownBesideAKernelThatStreamsMemoryOnAnyRank) {
  Machine two{2, {{"main", 0}, {"side", 0}}, 132, options};
  Work exchange = collective(0, 0, 100'000);
  exchange.active.lost = {.streaming = 0.5, .gather = 0.1};
  const WorkId mine = two.launch(exchange);
  exchange.rank = 1;
  two.launch(exchange);
  Work stream = kernel(kMainStream, 0, 60'000, 100);  // the collective finds 32 SMs
  stream.active.sensitivity = {};
  stream.rank = 1;
  const WorkId beside = two.launch(stream);
  drain(two);
  EXPECT_DOUBLE_EQ(*two.works()[beside.index()].end_ns, 60'010);
  // Half of its pace for 60 us: 30 us late.
  EXPECT_NEAR(*two.works()[mine.index()].end_ns, 130'010, 1);
}

TEST_F(MachineTest, ACollectiveSlowsKernelsThatStreamMemoryOnlyOnceAllRanksAreThere) {
  Machine two{2, {{"main", 0}, {"side", 0}}, 132, options};
  Work exchange = collective(0, 0, 1'000'000);
  exchange.active.ctas = 32;
  two.launch(exchange);
  exchange.rank = 1;
  exchange.called_ns = 50'000;
  two.launch(exchange);
  Work stream = kernel(kMainStream, 0, 100'000, 16);  // the collective finds room for all
  stream.active.sensitivity = {.waiting = 0.0, .moving = 1.0};
  const WorkId beside = two.launch(stream);
  drain(two);
  // 50 us of its work at its own pace, the other 50 us at half of it.
  EXPECT_NEAR(*two.works()[beside.index()].end_ns, 150'010, 20);
}

/// A collective of 100 us that loses half of its pace to kernels that stream memory, and one of these for 60 us.
class StreamedBesideTest : public MachineTest {
 protected:
  Work exchange = collective(0, 0, 100'000);
  Work stream = kernel(kMainStream, 0, 60'000, 100);

  StreamedBesideTest() {
    exchange.active.lost = {.streaming = 0.5, .gather = 0.1};
    stream.active.sensitivity = {};
  }
  double exchange_ends() {
    const WorkId mine = machine.launch(exchange);
    machine.launch(stream);
    drain(machine);
    return *machine.works()[mine.index()].end_ns;
  }
};

TEST_F(StreamedBesideTest, WhatIsKnownOfAKernelCountsBeforeWhatIsUsual) {
  stream.active.lost_beside = 0.2;
  EXPECT_NEAR(exchange_ends(), 112'010, 1);
}

TEST_F(StreamedBesideTest, ACollectiveThatLosesLessThanItsKindDoesSo) {
  exchange.active.lost_part = 0.4;
  EXPECT_NEAR(exchange_ends(), 112'010, 1);  // a fifth of its pace for 60 us
}

/// A collective and kernels that wait for the same copy.
class RaceTest : public MachineTest {
 protected:
  static constexpr StreamIndex kNccl{2};
  Machine race{1, {{"main", 0}, {"side", 0}, {"nccl", 0}}, 132, options};

  /// Starts of a memset of a microsecond, of a kernel behind it that fills all SMs, and of the collective.
  /// `later` is the time by which the collective becomes ready behind the memset.
  std::vector<double> starts(bool lets_pass, double later) {
    race.launch(copy(kSideStream, 0, 10'000));
    const TokenId released = race.record(0, kSideStream);
    race.wait(0, kMainStream, released);
    race.wait(0, kNccl, released);
    const WorkId first = race.launch(kernel(kMainStream, 0, 1'000, 8));
    const WorkId behind = race.launch(kernel(kMainStream, 0, 100'000, 132 * 8 * 20));
    Work exchange = collective(0, 10'004 + later, 70);
    exchange.stream = kNccl;
    exchange.lets_pass = lets_pass;
    const WorkId nccl = race.launch(exchange);
    drain(race);
    std::vector<double> result;
    for (const WorkId id : {first, behind, nccl}) result.push_back(*race.works()[id.index()].start_ns);
    return result;
  }

  struct Race {
    SiteId kernel;
    std::optional<Delays> usual_delays;  ///< of the kernel
    const RaceOdds* odds = nullptr;      ///< of the collective
    std::optional<trace::OperationId> recorded;
    RaceDraw draw;
  };
  /// Does a kernel that fills all SMs start before the collective that its stream issues?
  static bool kernel_wins(Machine& m, const Race& race) {
    Work next = kernel(kMainStream, 0, 100'000, 132 * 8 * 20);
    next.site = race.kernel;
    next.usual_delays = race.usual_delays;
    const WorkId behind = m.launch(next);
    Work exchange = collective(0, 0, 70);
    exchange.issued_on = kMainStream;
    exchange.races = race.odds;
    exchange.recorded = race.recorded;
    exchange.draw = race.draw;
    const WorkId nccl = m.launch(exchange);
    drain(m);
    return *m.works()[behind.index()].start_ns < *m.works()[nccl.index()].start_ns;
  }
};

TEST_F(RaceTest, ACollectiveThatLetsPassComesBehindAllThatStandsBehindAShortKernel) {
  const std::vector<double> starts = this->starts(true, 500);
  EXPECT_NEAR(starts[0], 10'014, 0.01);
  EXPECT_NEAR(starts[1], 11'015, 0.01);
  EXPECT_GT(starts[2], starts[1] + 90'000);  // until nearly all its blocks have been handed out
}

TEST_F(RaceTest, OneThatDoesNotIsFirst) {
  const std::vector<double> starts = this->starts(false, 500);
  EXPECT_NEAR(starts[2], 10'514, 0.01);
  EXPECT_NEAR(starts[0], 10'514, 0.01);
}

TEST_F(RaceTest, TheOddsOfItsSiteDecide) {
  RaceOdds odds;
  for (std::uint32_t op = 0; op < 100; ++op) {
    odds.see(trace::OperationId{op}, SiteId{7}, Meeting::kBehindKernel, false);
    odds.see(trace::OperationId{op}, SiteId{8}, Meeting::kBehindKernel, true);
  }
  // Behind a kernel each rank has a luck of its own, and waits do not matter. Where races end as recorded, a recorded
  // meeting does, whatever the odds and what is drawn.
  constexpr trace::OperationId kWon{100};
  constexpr trace::OperationId kLost{101};
  odds.see(kWon, SiteId{8}, Meeting::kBehindKernel, false);
  odds.see(kLost, SiteId{7}, Meeting::kBehindKernel, true);
  struct Case {
    std::uint32_t site;
    std::optional<trace::OperationId> recorded;
    bool as_recorded;
    bool kernel_is_first;
  };
  for (const auto& [site, recorded, as_recorded, kernel_is_first] :
       {Case{7, std::nullopt, true, false}, Case{8, std::nullopt, true, true}, Case{8, kWon, true, false},
        Case{7, kLost, true, true}, Case{8, kWon, false, true}, Case{7, kLost, false, false}}) {
    Machine one{1, {{"main", 0}, {"nccl", 0}}, 132, options};
    const TokenId released = one.works()[one.launch(kernel(kMainStream, 0, 10'000, 8)).index()].done;
    one.wait(0, kSideStream, released);
    EXPECT_EQ(kernel_wins(one, {.kernel = SiteId{site},
                                .usual_delays = Delays{.waits = 5},
                                .odds = &odds,
                                .recorded = recorded,
                                .draw = {.as_recorded = as_recorded, .luck = 0, .own_luck = 0.5}}),
              kernel_is_first)
        << site;
  }
}

TEST_F(RaceTest, AKernelBehindMoreWaitsThanRecordedLosesWhatItWonThere) {
  RaceOdds odds;
  constexpr trace::OperationId kRecorded{100};
  odds.see(kRecorded, SiteId{7}, Meeting::kOnIssuingStream, true);
  struct Case {
    std::optional<double> usual_waits;
    bool copy_is_over;  ///< before the host makes the wait for it
    bool kernel_is_first;
  };
  // Of a kernel that waits for a copy and a collective, where there were as many waits, one, now and then one, or
  // nobody knows.
  for (const auto& [usual_waits, copy_is_over, kernel_is_first] :
       {Case{2, false, true}, Case{1, false, false}, Case{1.6, false, true}, Case{std::nullopt, false, true},
        Case{1, true, true}}) {
    Machine one{1, {{"main", 0}, {"nccl", 0}, {"side", 0}}, 132, options};
    const TokenId copied = one.works()[one.launch(copy(StreamIndex{2}, 0, 1'000)).index()].done;
    const TokenId exchanged = one.works()[one.launch(collective(0, 0, 10'000)).index()].done;
    one.settle();
    while (copy_is_over && !one.done_at(copied)) {
      one.advance(*one.next_change());
      one.settle();
    }
    one.wait(0, kMainStream, copied);
    one.wait(0, kMainStream, exchanged);
    const auto usual = usual_waits ? std::optional(Delays{.waits = *usual_waits}) : std::nullopt;
    EXPECT_EQ(kernel_wins(one, {.kernel = SiteId{7},
                                .usual_delays = usual,
                                .odds = &odds,
                                .recorded = kRecorded,
                                .draw = {.as_recorded = true, .luck = 0.5, .own_luck = 0}}),
              kernel_is_first)
        << usual_waits.value_or(-1) << copy_is_over;
  }
}

TEST_F(RaceTest, AKernelLosesMoreOftenWhileMoreStreamsWaitThanRecorded) {
  RaceOdds odds;
  constexpr trace::OperationId kRecorded{100};
  odds.see(kRecorded, SiteId{7}, Meeting::kBehindKernel, true);
  struct Case {
    std::optional<double> usually_waiting;
    std::int32_t priority;  ///< of the stream that waits
    bool kernel_is_first;
  };
  for (const auto& [usually_waiting, priority, kernel_is_first] :
       {Case{0, 0, false}, Case{1, 0, true}, Case{0, -1, true}, Case{std::nullopt, 0, true}}) {
    Machine one{1, {{"main", 0}, {"nccl", 0}, {"lookup", priority}, {"copies", 0}}, 132, options};
    const TokenId copied = one.works()[one.launch(copy(StreamIndex{3}, 0, 1'000'000)).index()].done;
    one.wait(0, StreamIndex{2}, copied);
    one.launch(kernel(StreamIndex{2}, 0, 1'000, 8));
    const TokenId released = one.works()[one.launch(kernel(kMainStream, 0, 10'000, 8)).index()].done;
    one.wait(0, kSideStream, released);
    const auto usual = usually_waiting ? std::optional(Delays{.waiting_streams = *usually_waiting}) : std::nullopt;
    EXPECT_EQ(kernel_wins(one, {.kernel = SiteId{7},
                                .usual_delays = usual,
                                .odds = &odds,
                                .recorded = kRecorded,
                                .draw = {.as_recorded = true, .luck = 0, .own_luck = 0.6}}),
              kernel_is_first)
        << usually_waiting.value_or(-1) << priority;
  }
}

TEST_F(RaceTest, WhatIsReadyMuchEarlierIsNoRival) {
  const std::vector<double> starts = this->starts(false, 5'000);
  EXPECT_NEAR(starts[0], 10'014, 0.01);
  EXPECT_NEAR(starts[1], 11'015, 0.01);
}

TEST_F(MachineTest, WhatStandsBehindAWaitIsOneLatencyLaterAlsoForOtherStreams) {
  MachineOptions slow = options;
  slow.wait_latency_ns = 2'000;
  Machine chain{1, {{"main", 0}, {"side", 0}, {"third", 0}}, 132, slow};
  const WorkId first = chain.launch(copy(kMainStream, 0, 10'000));
  chain.wait(0, kSideStream, chain.works()[first.index()].done);
  chain.wait(0, StreamIndex{2}, chain.record(0, kSideStream));
  const WorkId last = chain.launch(copy(StreamIndex{2}, 0, 10));
  drain(chain);
  EXPECT_NEAR(*chain.works()[last.index()].start_ns, *chain.works()[first.index()].end_ns + 4'000, 1);
}

TEST_F(MachineTest, ACollectiveWithoutItsPeerNeverEnds) {
  Machine two{2, {{"main", 0}, {"side", 0}}, 132, options};
  const WorkId lonely = two.launch(collective(0, 0, 70));
  drain(two);
  EXPECT_TRUE(two.works()[lonely.index()].start_ns);
  EXPECT_FALSE(two.works()[lonely.index()].end_ns);
  EXPECT_FALSE(two.next_change());
}

}  // namespace
}  // namespace interlace::replay
