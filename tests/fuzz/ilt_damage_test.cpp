#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/trace/ilt/chunk_io.hpp"
#include "simulator/trace/ilt/format.hpp"
#include "simulator/trace/ilt/reader.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/trace_difference.hpp"

namespace interlace::trace {
namespace {

/// The sample trace as a file of many small chunks.
class IltDamageTest : public testing::Test {
 protected:
  Diagnostics found;
  Trace trace = sample_trace(found);
  ilt::Buffer file = written();

  ilt::Buffer written() const {
    std::ostringstream out;
    write_ilt(trace, found, out, "memory", {.operations_per_chunk = 3});
    const std::string text = out.str();
    return {text.begin(), text.end()};
  }

  /// Operations in the whole chunks that end at or before this byte, by the headers alone.
  std::size_t operations_before(std::size_t end) const {
    std::size_t operations = 0;
    for (std::size_t at = ilt::kFileHeaderBytes; at + ilt::kChunkHeaderBytes <= end;) {
      const std::size_t next = at + ilt::kChunkHeaderBytes + ilt::get_fixed<std::uint32_t>(&file[at + 20]);
      const bool has_operations = file[at + 4] == static_cast<std::uint8_t>(ilt::ChunkType::kOperations);
      if (next <= end && has_operations) operations += ilt::get_fixed<std::uint32_t>(&file[at + 16]);
      at = next;
    }
    return operations;
  }

  /// The operations of a trace that was read from a damaged file are operations of the whole one: same times, kinds,
  /// lanes and details; what they refer to is lost or the same too.
  void expect_part_of_whole(const Trace& part) const {
    std::vector<OperationId> in_whole;
    std::uint32_t at = 0;
    for (std::uint32_t op = 0; op < part.size(); ++op) {
      while (at < trace.size() && !is_same(part, {op}, {at})) ++at;
      ASSERT_LT(at, trace.size()) << "operation " << op << " is not of the trace that was written";
      in_whole.push_back({at++});
    }
    // Ranks are as many as were read; a state is of the same one, or of one that lost ranks moved.
    for (AllocatorState state : part.allocator_states()) {
      const auto is_same_state = [&](AllocatorState other) {
        if (as_recorded(part.ranks()[state.rank.index()]) != trace.ranks()[other.rank.index()]) return false;
        other.rank = state.rank;
        if (state.time) *state.time += part.origin();
        if (other.time) *other.time += trace.origin();
        const bool same = state == other;
        if (state.time) *state.time -= part.origin();
        return same;
      };
      EXPECT_TRUE(std::ranges::any_of(trace.allocator_states(), is_same_state)) << "a state was made up";
    }
    const auto expect_same = [&](std::optional<OperationId> reference, std::optional<OperationId> whole) {
      if (reference) {
        EXPECT_EQ(in_whole[reference->index()], whole);
      }
    };
    for (std::uint32_t op = 0; op < part.size(); ++op) {
      const OperationId whole = in_whole[op];
      expect_same(part.launch_of({op}), trace.launch_of(whole));
      if (part.sync({op}) != nullptr) expect_same(part.sync({op})->record, trace.sync(whole)->record);
      if (part.range({op}) != nullptr) expect_same(part.range({op})->forward_op, trace.range(whole)->forward_op);
    }
  }

  /// Whether they are the same but for the lane, which may be lost.
  static bool same_allocation(const AllocationDetail* a, const AllocationDetail* b) {
    if (a == nullptr || b == nullptr) return a == b;
    AllocationDetail on_that_lane = *a;
    on_that_lane.stream = b->stream;
    return on_that_lane == *b;
  }

  bool is_same(const Trace& part, OperationId a, OperationId b) const {
    const auto same = [](const auto* x, const auto* y) {
      return (x == nullptr) == (y == nullptr) && (x == nullptr || *x == *y);
    };
    const bool same_name = part.name(a) == trace.name(b) || part.name(a) == "(lost)";
    return part.start(a) + part.origin() == trace.start(b) + trace.origin() && part.duration(a) == trace.duration(b) &&
           part.kind(a) == trace.kind(b) && same_name && same(part.kernel(a), trace.kernel(b)) &&
           same(part.copy(a), trace.copy(b)) && same_allocation(part.allocation(a), trace.allocation(b)) &&
           part.lane(part.lane_of(a)).number == trace.lane(trace.lane_of(b)).number &&
           (part.sync(a) == nullptr) == (trace.sync(b) == nullptr) &&
           (part.range(a) == nullptr) == (trace.range(b) == nullptr);
  }
};

TEST_F(IltDamageTest, ReadsAllWholeChunksBeforeACutAtAnyByte) {
  for (std::size_t end = 0; end < file.size(); ++end) {
    SCOPED_TRACE("cut at byte " + std::to_string(end));
    const ilt::Buffer cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(end));  // its own block, for asan
    Diagnostics diagnostics;
    if (end < ilt::kFileHeaderBytes) {
      EXPECT_THROW((void)read_ilt(cut, "cut", diagnostics), Error);
      continue;
    }
    const Trace part = read_ilt(cut, "cut", diagnostics);
    ASSERT_EQ(part.size(), operations_before(end));
    ASSERT_TRUE(part.allocator_states().empty() || part.size() == trace.size()) << "a state outlived its events";
    ASSERT_EQ(diagnostics.count_of("ilt.truncated"), 1);
    ASSERT_EQ(diagnostics.count_of("ilt.damaged_chunk"), 0);
    expect_part_of_whole(part);
    if (HasFailure()) return;
  }
}

TEST_F(IltDamageTest, CountsTheOperationsOfTheChunkThatIsCut) {
  std::size_t last = ilt::kFileHeaderBytes;  // the last chunk of operations
  for (std::size_t at = last; at < file.size();) {
    if (file[at + 4] == static_cast<std::uint8_t>(ilt::ChunkType::kOperations)) last = at;
    at += ilt::kChunkHeaderBytes + ilt::get_fixed<std::uint32_t>(&file[at + 20]);
  }
  const ilt::Buffer cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(last + ilt::kChunkHeaderBytes + 1));
  Diagnostics diagnostics;
  const Trace part = read_ilt(cut, "cut", diagnostics);
  EXPECT_LT(part.size(), trace.size());
  EXPECT_EQ(static_cast<std::size_t>(diagnostics.count_of("ilt.lost_operations")), trace.size() - part.size());
}

TEST_F(IltDamageTest, NeverTakesADamagedByteForData) {
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const unsigned mask : {0x01U, 0x80U, 0xFFU}) {
      SCOPED_TRACE("byte " + std::to_string(at) + " xor " + std::to_string(mask));
      ilt::Buffer damaged = file;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ mask);
      Diagnostics diagnostics;
      try {
        const Trace part = read_ilt(damaged, "damaged", diagnostics);
        ASSERT_EQ(diagnostics.count_of("ilt.damaged_chunk"), 1);
        const auto lost = static_cast<std::size_t>(diagnostics.count_of("ilt.lost_operations"));
        ASSERT_EQ(part.size() + lost, trace.size());
        expect_part_of_whole(part);
        if (HasFailure()) return;
      } catch (const Error& error) {
        // Only the file's header and its schema leave nothing to read.
        const std::size_t schema_end =
            ilt::kFileHeaderBytes + ilt::kChunkHeaderBytes + ilt::get_fixed<std::uint32_t>(&file[36]);
        ASSERT_LT(at, schema_end) << error.what();
        ASSERT_TRUE(error.code() == "ilt.damaged" || error.code() == "ilt.not_ilt") << error.what();
      }
    }
  }
}

TEST_F(IltDamageTest, SurvivesHolesAndOverwrittenSpans) {
  std::mt19937 random(20'240);
  for (int round = 0; round < 3'000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ilt::Buffer damaged = file;
    const auto from = static_cast<std::ptrdiff_t>(random() % damaged.size());
    const auto length =
        std::min<std::ptrdiff_t>(1 + random() % 400, static_cast<std::ptrdiff_t>(damaged.size()) - from);
    const auto begin = damaged.begin() + from;
    if (round % 2 == 0) {
      damaged.erase(begin, begin + length);
    } else {
      std::generate(begin, begin + length, [&] { return static_cast<std::uint8_t>(random()); });
    }
    if (damaged == file) continue;  // overwritten with what was there
    Diagnostics diagnostics;
    try {
      const Trace part = read_ilt(damaged, "damaged", diagnostics);
      ASSERT_GT(diagnostics.count_of("ilt.damaged_chunk") + diagnostics.count_of("ilt.truncated"), 0);
      expect_part_of_whole(part);
      if (HasFailure()) return;
    } catch (const Error& error) {
      ASSERT_TRUE(error.code().starts_with("ilt.")) << error.what();
    }
  }
}

/// Damage whose checksum is right: what a faulty writer could make. Nothing is promised but an Error or a Trace.
TEST_F(IltDamageTest, SurvivesDamageUnderARightChecksum) {
  std::mt19937 random(7);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<ilt::StoredChunk> chunks;
    Diagnostics diagnostics;
    ilt::ChunkScanner scanner(file, "whole");
    while (const auto chunk = scanner.next(diagnostics)) chunks.push_back(*chunk);
    const std::size_t victim = random() % chunks.size();
    ilt::Buffer damaged = ilt::file_header();
    ilt::ChunkUnpacker unpacker;
    ilt::ChunkPacker packer(1);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const ilt::BytesView payload = unpacker.unpack(chunks[i]);
      ilt::Buffer copy(payload.begin(), payload.end());
      if (i == victim && !copy.empty()) {
        for (int n = 0; n < 3; ++n) copy[random() % copy.size()] = static_cast<std::uint8_t>(random());
      }
      const auto& header = chunks[i].header;
      const auto chunk = packer.pack(static_cast<ilt::ChunkType>(header.type), header.first_row, header.rows, copy);
      damaged.insert(damaged.end(), chunk.begin(), chunk.end());
    }
    try {
      (void)read_ilt(damaged, "damaged", diagnostics);
    } catch (const Error& error) {
      ASSERT_TRUE(error.code().starts_with("ilt.")) << error.what();
    }
  }
}

}  // namespace
}  // namespace interlace::trace
