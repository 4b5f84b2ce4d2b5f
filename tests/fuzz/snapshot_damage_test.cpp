// Damages real memory snapshots in seeded random ways. Whatever comes of it is a snapshot or an Error with the code of
// a pickle's or snapshot's flaw, never anything else; run under the asan preset this also finds reads beyond the
// buffers.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/memory_snapshot/as_rank.hpp"
#include "simulator/ingest/memory_snapshot/attach.hpp"
#include "simulator/ingest/read.hpp"
#include "tests/support/snapshot_pickle.hpp"

namespace interlace::ingest::memory_snapshot {
namespace {

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "torchrec_c6" / name;
}

std::string sample_bytes() { return std::string(read_file(sample("sparse.mem.r0.snap.pickle")).text()); }

/// Of what the real file has, the first entries of each list: small enough to try every byte.
std::string small_snapshot() {
  testing::SnapshotPickle pickle(2);
  pickle.setting("max_split_size", testing::pickled::integer(-1));
  for (int i = 0; i < 4; ++i) {
    pickle.event("alloc", 1 << 20, 512, 0, 10 + i).event("free_requested", 1 << 20, 512, 0, 11 + i);
    pickle.event("free_completed", 1 << 20, 512, 0, 11 + i).annotation("a", i % 2 == 0 ? "START" : "END", 10 + i);
  }
  pickle.segment(1 << 20, 0, {{512, "inactive"}, {1024, "active_pending_free"}});
  return pickle.bytes();
}

/// "none" where the bytes read as a snapshot; else the code of the Error.
std::string outcome_of(const std::string& bytes) {
  // A copy of exactly this size, so that the sanitizer sees a read of one byte beyond.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    const Snapshot snapshot = decode_snapshot({exact.data(), exact.size()}, "damaged.pickle");
    trace::TraceBuilder builder;
    Diagnostics diagnostics;
    add_rank(snapshot, 0, builder, diagnostics);
    (void)std::move(builder).build(diagnostics);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code().starts_with("pickle.") || error.code() == "memory_snapshot.not_a_snapshot")
        << error.what();
    return std::string(error.code());
  }
  return "none";
}

TEST(SnapshotDamage, EveryTruncationIsSeen) {
  const std::string small = small_snapshot();
  ASSERT_EQ(outcome_of(small), "none");
  for (std::size_t size = 0; size < small.size(); ++size) {
    EXPECT_EQ(outcome_of(small.substr(0, size)), "pickle.truncated") << size;
  }
  const std::string whole = sample_bytes();
  ASSERT_EQ(outcome_of(whole), "none");
  for (std::size_t size = 0; size < whole.size(); size += size < 2'000 || size + 300 > whole.size() ? 1 : 211) {
    EXPECT_EQ(outcome_of(whole.substr(0, size)), "pickle.truncated") << size;
  }
}

TEST(SnapshotDamage, FlippedBytes) {
  const std::string small = small_snapshot();
  for (std::size_t at = 0; at < small.size(); ++at) {
    for (const unsigned mask : {0x01U, 0x20U, 0x80U, 0xFFU}) {
      std::string bytes = small;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ mask);
      (void)outcome_of(bytes);
    }
  }
  const std::string whole = sample_bytes();
  std::mt19937 random(1);
  std::set<std::string> outcomes;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    const std::size_t flips = 1 + random() % 8;
    for (std::size_t i = 0; i < flips; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    outcomes.insert(outcome_of(bytes));
  }
  // Both kinds of luck must have been tried: damage that shows and damage that reads.
  EXPECT_TRUE(outcomes.contains("none"));
  EXPECT_TRUE(outcomes.contains("pickle.malformed"));
}

TEST(SnapshotDamage, MisplacedSpans) {
  const std::string whole = sample_bytes();
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    const std::size_t at = random() % bytes.size();
    switch (random() % 3) {
      case 0: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 4'000)); break;
      case 1: bytes.erase(at, 1 + random() % 4'000); break;
      default: bytes.replace(at, random() % 100, bytes.substr(random() % bytes.size(), random() % 100));
    }
    (void)outcome_of(bytes);
  }
}

/// Instructions put together at random, most of which are ones that this reader knows.
TEST(SnapshotDamage, RandomPrograms) {
  constexpr std::string_view kInstructions(
      "(.0125FIJKLMNSTUVX]adeghjlpqrst}uG)BC\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e"
      "\x8f\x90\x91\x94\x95\x96\n\x01");
  std::mt19937 random(3);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 60; i > 0; --i) bytes += kInstructions[random() % kInstructions.size()];
    if (outcome_of(bytes.append(".")) == "memory_snapshot.not_a_snapshot") ++read;
  }
  EXPECT_GT(read, 10) << "none was a sound pickle";
}

/// Makes a history that no allocator can have had.
void disorder(std::vector<Event>& events, std::mt19937& random) {
  for (std::size_t i = 1 + random() % 200; i > 0; --i) {
    const std::size_t at = random() % events.size();
    const std::size_t other = random() % events.size();
    switch (random() % 6) {
      case 0: std::swap(events[at], events[other]); break;
      case 1: events.erase(events.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 2: events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), events[other]); break;
      case 3: events[at].address = random() % 2 == 0 ? events[other].address : random(); break;
      case 4: events[at].time += static_cast<Nanoseconds>(random()) - (Nanoseconds{1} << 31U); break;
      default: events[at].action = static_cast<trace::AllocationAction>(random() % 10); break;
    }
  }
}

/// Whatever the history, all of it is in the trace, in its own order.
TEST(SnapshotDamage, AnyHistoryKeepsItsOrder) {
  const Recording recording = ingest::read(std::vector{sample("sparse.mem.r0.json.gz")});
  const Snapshot whole = decode_snapshot(sample_bytes(), "disordered.pickle");
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    std::vector<Snapshot> snapshots{whole};
    std::vector<Event>& events = snapshots[0].devices[0].events;
    disorder(events, random);
    Diagnostics diagnostics;
    const trace::Trace trace = attach_snapshots(recording.trace, snapshots, diagnostics);
    std::size_t at = static_cast<std::size_t>(diagnostics.count_of("memory_snapshot.before_recording"));
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const trace::AllocationDetail* const detail = trace.allocation({i});
      if (detail == nullptr || !detail->stream_handle) continue;
      ASSERT_LT(at, events.size());
      ASSERT_EQ(detail->action, events[at].action) << round;
      ASSERT_EQ(detail->address, events[at].address) << round;
      ++at;
    }
    EXPECT_EQ(at, events.size()) << round;
  }
}

}  // namespace
}  // namespace interlace::ingest::memory_snapshot
