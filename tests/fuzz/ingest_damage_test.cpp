// Damages real recordings in seeded random ways. Whatever comes of it is a trace or an Error, never anything else; run
// under the asan preset this also finds reads beyond the buffers.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "simulator/base/error.hpp"
#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/kineto/document.hpp"
#include "simulator/ingest/kineto/rank_file.hpp"
#include "tests/support/gzip.hpp"

namespace interlace::ingest {
namespace {

std::string sample_text() {
  const std::filesystem::path file = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / "hta" /
                                     "cuda_event_sync_multi_stream" / "event_sync_trace.json.gz";
  return std::string(inflate(read_file(file).text(), file, {}).text());
}

struct Outcome {
  std::string code = "none";
  std::size_t operations = 0;
};

Outcome read_text(const std::string& text) {
  // A copy of exactly this size, so that the sanitizer sees a read of one byte beyond.
  const std::vector<char> exact(text.begin(), text.end());
  try {
    const kineto::RankFile rank_file = kineto::decode_rank_file({exact.data(), exact.size()}, "damaged.json");
    trace::TraceBuilder builder;
    Diagnostics diagnostics;
    kineto::add_rank(rank_file, 0, builder, diagnostics);
    return {"none", std::move(builder).build(diagnostics).size()};
  } catch (const Error& error) {
    EXPECT_TRUE(error.code().starts_with("kineto.") || error.code().starts_with("ingest.")) << error.what();
    return {std::string(error.code()), 0};
  }
}

TEST(Damage, TruncationIsAlwaysSeen) {
  const std::string whole = sample_text();
  const std::size_t last = whole.rfind('}');
  for (std::size_t size = 1; size <= last; size += 1 + size % 13) {
    EXPECT_EQ(read_text(whole.substr(0, size)).code,
              size == whole.find('{') ? "kineto.not_a_trace" : "kineto.truncated")
        << size;
  }
}

TEST(Damage, FlippedBytes) {
  const std::string whole = sample_text();
  const std::size_t sound = read_text(whole).operations;
  std::mt19937 random(1);
  std::size_t worst = sound;
  for (int round = 0; round < 400; ++round) {
    std::string text = whole;
    const std::size_t flips = 1 + random() % 4;
    for (std::size_t i = 0; i < flips; ++i) text[random() % text.size()] = static_cast<char>(random());
    const Outcome outcome = read_text(text);
    if (outcome.code == "none") worst = std::min(worst, outcome.operations);
    EXPECT_LE(outcome.operations, sound) << round;
  }
  // Four bytes damage four events at most, each of which may drag its neighbour along.
  EXPECT_GE(worst + 8, sound);
}

TEST(Damage, MisplacedStructure) {
  const std::string whole = sample_text();
  std::mt19937 random(2);
  constexpr std::string_view kMarks = "{}[],:\"\\ \n\0\xFF-e9";
  for (int round = 0; round < 400; ++round) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text.insert(at, 1, kMarks[random() % kMarks.size()]); break;
        case 1: text.erase(at, 1 + random() % 400); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 400));
      }
    }
    (void)read_text(text);
  }
}

TEST(Damage, ExtremeNumbers) {
  const std::string whole = sample_text();
  std::mt19937 random(3);
  const std::vector<std::string> numbers{"-1",
                                         "0",
                                         "1e308",
                                         "-1e-308",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551616",
                                         "1e18",
                                         "4294967296",
                                         "null",
                                         "\"inf\"",
                                         "[[]]",
                                         "{}",
                                         "3.9999999"};
  std::vector<std::size_t> values;
  for (std::size_t at = whole.find("\": "); at != std::string::npos; at = whole.find("\": ", at + 1))
    values.push_back(at + 3);
  for (int round = 0; round < 400; ++round) {
    std::string text = whole;
    for (int i = 0; i < 5; ++i) {
      const std::size_t at = values[random() % values.size()];
      const std::size_t end = text.find_first_of(",}]\n", at);
      if (end != std::string::npos) text.replace(at, end - at, numbers[random() % numbers.size()]);
    }
    (void)read_text(text);
  }
}

TEST(Damage, DeepNesting) {
  const std::string head = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}, )";
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const Outcome inside = read_text(head + R"({"ph": "X", "args": )" + deep + "}]}");
  EXPECT_EQ(inside.operations, 1U);
  EXPECT_EQ(read_text(head + R"({}], "distributedInfo": )" + deep + "}").operations, 1U);
}

TEST(Damage, CompressedBytes) {
  const std::string whole = testing::gzip(sample_text());
  std::mt19937 random(4);
  for (int round = 0; round < 400; ++round) {
    std::string packed = whole;
    packed[2 + random() % (packed.size() - 2)] = static_cast<char>(random());
    try {
      (void)inflate(packed, "damaged.gz", {});
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == "ingest.damaged_gzip" || error.code() == "kineto.inflates_too_large") << error.what();
    }
  }
}

}  // namespace
}  // namespace interlace::ingest
