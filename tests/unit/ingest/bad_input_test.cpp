// What a user may name by mistake: each ends in one coded error that says what it is.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/ingest/read.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/ingest/recordings.hpp"

namespace interlace::ingest {
namespace {

using namespace std::string_literals;
using testing::KinetoText;
using testing::TemporaryFolder;

struct Failure {
  std::string code;
  std::string text;
};

Failure failure_of(const std::vector<std::filesystem::path>& files) {
  try {
    (void)read(files);
  } catch (const Error& error) {
    return {std::string(error.code()), error.what()};
  }
  return {"none", ""};
}

Failure failure_of_content(const std::string& content) {
  const TemporaryFolder folder;
  return failure_of({folder.write("file", content)});
}

/// The code and a word of the message.
void expect(const Failure& failure, const std::string& code, const std::string& word) {
  EXPECT_EQ(failure.code, code) << failure.text;
  EXPECT_NE(failure.text.find(word), std::string::npos) << failure.text;
}

TEST(BadInput, NoFile) {
  const TemporaryFolder folder;
  expect(failure_of({}), "ingest.no_files", "no recording");
  expect(failure_of({"no such file"}), "ingest.cannot_open", "No such file");
  // A folder stands for the traces in it, of which the first by name must be one.
  expect(failure_of({sample("torchrec_c6")}), "kineto.not_a_trace", "c6.r0.json");
  expect(failure_of({sample("")}), "ingest.no_files", "a folder in this one that holds such files is");
  expect(failure_of_content(""), "ingest.empty_file", "empty");
  expect(failure_of_content(testing::gzip("")), "ingest.empty_file", "inflates to nothing");
}

TEST(BadInput, ProfileExportedAfterTheNextOneBegan) {
  KinetoText trace;
  trace.annotation("## forward 1 ##", "10.000", "5.000").call("cudaLaunchKernel", "0.000", "0.000", 1);
  trace.kernel("gemm", 7, "0.000", "0.000", 1);
  expect(failure_of_content(trace.text()), "kineto.lost_times", "all 1 device operations");
  // One that has its time is enough to read the file.
  trace.kernel("gemm", 7, "20.000", "3.000", 2);
  expect(failure_of_content(trace.text()), "none", "");
}

TEST(BadInput, OtherFormats) {
  constexpr const char* kCode = "ingest.unsupported_format";
  expect(failure_of_content("\x80\x04N."), "memory_snapshot.not_a_snapshot", "_dump_snapshot");
  expect(failure_of_content(std::string(257, 'a') + "ustar"), kCode, "tar archive");
  expect(failure_of_content(testing::gzip(std::string(257, 'a') + "ustar")), kCode, "tar archive");
  expect(failure_of_content("PK\x03\x04"s), kCode, "zip");
  expect(failure_of_content("\x28\xb5\x2f\xfd"s), kCode, "zstd");
  expect(failure_of_content(testing::gzip(testing::gzip("{}"))), kCode, "twice");
  expect(failure_of_content("[{\"ph\": \"X\"}]"), kCode, "bare JSON list");
  expect(failure_of_content(R"({"schema": "1.0.1", "pid": 1, "time": "", "start_ts": 1, "nodes": []})"), kCode,
         "execution trace");
  expect(failure_of_content(R"({"workload_graph": []})"), kCode, "Chakra");
  expect(failure_of_content(R"({"interlace_schedule": 1})"), kCode, "schedule");
  expect(failure_of_content("\x89ILT\r\n\x1a\n more"), "ilt.damaged", "header");
}

TEST(BadInput, NoFormat) {
  expect(failure_of_content("hello"), "ingest.unknown_format", "neither JSON");
  expect(failure_of_content(std::string(1000, '\0')), "ingest.unknown_format", "neither JSON");
  expect(failure_of_content("   \n"), "ingest.unknown_format", "neither JSON");
}

TEST(BadInput, OtherJson) {
  constexpr const char* kCode = "kineto.not_a_trace";
  expect(failure_of({sample("torchrec_c6/c6.r0.json")}), kCode, "args, results");
  expect(failure_of_content("{}"), kCode, "traceEvents; it is empty");
  expect(failure_of_content(R"({"traceEvents": 5})"), kCode, "traceEvents");
  expect(failure_of_content(R"({"traceEvents": []})"), kCode, "holds no event");
  // A browser's trace.
  expect(failure_of_content(R"({"traceEvents": [{"ph": "X", "cat": "blink", "name": "paint", "ts": 1, "dur": 2}]})"),
         kCode, "another program's");
}

TEST(BadInput, CutOff) {
  const std::string whole = KinetoText().rank(0, 1).annotation("a", "1", "1").annotation("b", "2", "1").text();
  const std::size_t half = whole.find("\"b\"");
  expect(failure_of_content(whole.substr(0, half)), "kineto.truncated", "byte " + std::to_string(half));
  expect(failure_of_content(testing::gzip(whole.substr(0, half))), "kineto.truncated", "byte " + std::to_string(half));
  const std::string packed = testing::gzip(whole);
  expect(failure_of_content(packed.substr(0, packed.size() / 2)), "ingest.damaged_gzip",
         "cut off at byte " + std::to_string(packed.size() / 2));
}

TEST(BadInput, RanksThatDoNotBelongTogether) {
  expect(failure_of({sample("torchrec_c6/sparse.r0.json.gz"), sample("torchrec_c6/sparse.r0.json.gz")}),
         "ingest.duplicate_rank", "both are rank 0");
  expect(failure_of({sample("torchrec_c6/sparse.r0.json.gz"), sample("torchrec_c6/base.r1.json.gz")}),
         "ingest.ranks_of_different_runs", "no moment was recorded by both");
  const TemporaryFolder folder;
  const auto rank_of_four = folder.write("1.json", KinetoText().rank(1, 4).annotation("a", "1", "1").text());
  expect(failure_of({sample("torchrec_c6/sparse.r0.json.gz"), rank_of_four}), "ingest.ranks_of_different_runs",
         "of 2 ranks, the other of 4");
  expect(failure_of({sample("hta/alexnet/benchmark_result_2869224_1695835535_trace.json.gz"),
                     sample("hta/alexnet/benchmark_result_2869224_1695835535_trace.json.gz")}),
         "ingest.duplicate_rank", "rank 0");
}

TEST(BadInput, TheFirstFileInOrderIsBlamed) {
  const TemporaryFolder folder;
  const auto empty = folder.write("empty", "");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(failure_of({"no such file", empty}).code, "ingest.cannot_open");
    EXPECT_EQ(failure_of({empty, "no such file"}).code, "ingest.empty_file");
  }
}

}  // namespace
}  // namespace interlace::ingest
