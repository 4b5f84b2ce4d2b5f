#include "simulator/report/chrome_trace.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "simulator/report/errors.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/report/tracks.hpp"
#include "tests/unit/analysis/job.hpp"

namespace interlace::report {
namespace {

using analysis::Job;
using Json = nlohmann::json;

Json written(std::vector<ChromeRun> runs) {
  std::ostringstream out;
  write_chrome_trace(out, runs);
  return Json::parse(out.str());
}

/// Events by name, of phase X only.
std::map<std::string, Json> slices(const Json& file) {
  std::map<std::string, Json> all;
  for (const Json& event : file["traceEvents"]) {
    if (event["ph"] == "X") all[event["name"]] = event;
  }
  return all;
}

TEST(ChromeTrace, HoldsWhatTheProgramSaidOfOperations) {
  Job job;
  const auto add = [&](std::string_view name, const trace::Note& note) {
    job.builder.add_range({.lane = job.thread, .name = job.builder.intern(name), .note = &note}, {});
  };
  const auto real = [](double value) {
    return trace::Number{trace::NumberType::kDouble, std::bit_cast<std::uint64_t>(value)};
  };
  add("number", {.payload = trace::Number{trace::NumberType::kInt64, static_cast<std::uint64_t>(std::int64_t{-3})},
                 .category = job.builder.intern("io")});
  add("real", {.payload = real(0.5)});
  add("no number", {.payload = real(std::numeric_limits<double>::quiet_NaN())});
  add("open", {.is_open = true});
  job.builder.add_range({.lane = job.thread, .name = job.builder.intern("MulBackward0")},
                        {.kind = trace::RangeKind::kCpuOp, .sequence_number = 7, .forward_thread = 1});
  const trace::Note external{.external = trace::ExternalId{trace::ExternalKind::kCustom0, 9}};
  job.builder.add_sync(trace::OperationKind::kHostSync,
                       {.lane = job.thread, .name = job.builder.intern("sync"), .note = &external}, {});
  const trace::Trace trace = job.build();
  const auto found = slices(written({{.trace = &trace}}));
  EXPECT_EQ(found.at("number")["args"], Json::parse(R"({"payload": -3, "category": "io"})"));
  EXPECT_EQ(found.at("MulBackward0")["args"], Json::parse(R"({"Sequence number": 7, "Fwd thread id": 1})"));
  EXPECT_EQ(found.at("real")["args"], Json::parse(R"({"payload": 0.5})"));
  EXPECT_EQ(found.at("no number")["args"], Json::parse(R"({"payload": "nan"})"));
  EXPECT_EQ(found.at("open")["args"], Json::parse(R"({"open": true})"));
  EXPECT_EQ(found.at("sync")["args"],
            Json::parse(R"({"sync": "unknown", "External id": 9, "External kind": "custom0"})"));
}

TEST(Tracks, NeverPutTwoOverlappingOperationsOfAStreamOnOneRow) {
  Job job;
  job.kernel(job.main, 0, 10, 30, "a");
  job.kernel(job.main, 1, 20, 40, "b");  // overlaps a
  job.kernel(job.main, 2, 30, 35, "c");  // a is over: first row again; inside b
  job.kernel(job.main, 3, 32, 33, "d");  // inside b and c: third row
  const trace::Trace trace = job.build();
  const Tracks tracks = lay_out(trace);
  std::map<std::string, std::string> row_of;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kernel({i}) != nullptr) row_of[std::string(trace.name({i}))] = tracks.tracks[tracks.track_of[i]].name;
  }
  const std::map<std::string, std::string> expected{
      {"a", "stream 7"}, {"b", "stream 7 (overlap 1)"}, {"c", "stream 7"}, {"d", "stream 7 (overlap 2)"}};
  EXPECT_EQ(row_of, expected);
}

TEST(Tracks, HostRangesNestOnOneRowUnlessTheyCross) {
  Job job;
  job.annotate("outer", 0, 100);
  job.annotate("inner", 10, 50);
  job.annotate("crossing", 40, 60);
  job.builder.add_device_range(job.at(job.main, "shown on the device", 5, 15), {});
  job.kernel(job.main, 1, 8, 12);
  const trace::Trace trace = job.build();
  const Tracks tracks = lay_out(trace);
  std::map<std::string, std::string> row_of;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    row_of[std::string(trace.name({i}))] = tracks.tracks[tracks.track_of[i]].name;
  }
  EXPECT_EQ(row_of["outer"], "thread 1");
  EXPECT_EQ(row_of["inner"], "thread 1");
  EXPECT_EQ(row_of["crossing"], "thread 1 (overlap 1)");
  EXPECT_EQ(row_of["gemm"], "stream 7");
  EXPECT_EQ(row_of["shown on the device"], "stream 7 annotations");
}

TEST(ChromeTrace, WritesMicrosecondsWithExactNanoseconds) {
  Job job;
  job.annotate("zero", 0, 1);
  job.kernel(job.main, 1'000, 1'234'567, 1'234'572);
  const trace::Trace trace = job.build();
  std::ostringstream out;
  const std::vector<ChromeRun> runs{{.trace = &trace}};
  write_chrome_trace(out, runs);
  EXPECT_NE(out.str().find("\"ts\":1234.567,\"dur\":0.005"), std::string::npos) << out.str();
}

TEST(ChromeTrace, HoldsEveryOperationOnceAndALaunchArrowEach) {
  Job job;
  job.annotate(R"(step "1"\)", 0, 100);
  job.kernel(job.main, 1, 10, 30, "a");
  job.collective(job.side, 2, 20, 40);
  job.copy(job.copies, {3, 4}, {10, 12}, trace::MemorySpace::kPinned, trace::MemorySpace::kDevice);
  job.sync(trace::SyncKind::kStreamSync, 50, 60);
  const trace::Trace trace = job.build();
  const Json file = written({{.trace = &trace, .title = "measured"}});

  std::size_t shown = 0;
  std::map<std::int64_t, std::set<std::string>> arrows;
  std::set<std::string> processes;
  for (const Json& event : file["traceEvents"]) {
    if (event["ph"] == "X" || event["ph"] == "i") ++shown;
    if (event["ph"] == "s" || event["ph"] == "f") arrows[event["id"]].insert(event["ph"]);
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
  }
  EXPECT_EQ(shown, trace.size());
  EXPECT_EQ(arrows.size(), 3U);
  for (const auto& [id, ends] : arrows) EXPECT_EQ(ends, (std::set<std::string>{"f", "s"})) << id;
  EXPECT_EQ(processes, (std::set<std::string>{"measured rank 0"}));
  const auto by_name = slices(file);
  EXPECT_EQ(by_name.at(R"(step "1"\)")["cat"], "user_annotation");
  EXPECT_EQ(by_name.at("Memcpy")["args"]["bytes"], 1024);
  EXPECT_EQ(by_name.at("cudaStreamSynchronize")["args"]["sync"], "stream_sync");
}

TEST(ChromeTrace, PutsRunsBesideEachOtherOnDistinctProcessesAndAligned) {
  const auto make = [](Nanoseconds shift) {
    Job job;
    job.annotate("begin", 0, 1);
    job.kernel(job.main, shift, 1'000 + shift, 2'000 + shift);
    return job.build();
  };
  const trace::Trace measured = make(500);
  const trace::Trace predicted = make(0);
  const Json file = written({{.trace = &measured, .title = "measured", .align = 1'500},
                             {.trace = &predicted, .title = "predicted torchrec/base", .align = 1'000}});
  std::map<std::int64_t, std::string> process;
  std::map<std::int64_t, std::int64_t> process_of_thread;
  std::map<std::int64_t, double> kernel_at;
  for (const Json& event : file["traceEvents"]) {
    if (event["name"] == "process_name") process[event["pid"]] = event["args"]["name"];
    if (event["name"] == "gemm") kernel_at[event["pid"]] = event["ts"];
    if (event["ph"] == "X") {
      const auto [known, is_new] = process_of_thread.try_emplace(event["tid"], event["pid"]);
      EXPECT_EQ(known->second, event["pid"]);
    }
  }
  EXPECT_EQ(process,
            (std::map<std::int64_t, std::string>{{1, "measured rank 0"}, {2, "predicted torchrec/base rank 0"}}));
  EXPECT_EQ(kernel_at, (std::map<std::int64_t, double>{{1, 1.5}, {2, 1.5}}));
}

TEST(ChromeTrace, SurvivesNamesThatAreNoUtf8) {
  Job job;
  job.annotate("bad \xc3( \xed\xa0\x80", 0, 10);
  const trace::Trace trace = job.build();
  EXPECT_NO_THROW((void)written({{.trace = &trace}}));
}

TEST(WriteFile, CompressesByNameAndRefusesWhatCannotBeWritten) {
  const auto folder = std::filesystem::temp_directory_path() / "interlace_report_test";
  std::filesystem::create_directories(folder);
  const std::string text(10'000, 'x');
  write_file(folder / "plain.json", [&](std::ostream& out) { out << text; });
  write_file(folder / "packed.json.gz", [&](std::ostream& out) { out << text; });
  EXPECT_EQ(std::filesystem::file_size(folder / "plain.json"), text.size());
  EXPECT_LT(std::filesystem::file_size(folder / "packed.json.gz"), 200U);
  std::ifstream packed(folder / "packed.json.gz", std::ios::binary);
  EXPECT_EQ(packed.get(), 0x1f);
  EXPECT_EQ(packed.get(), 0x8b);
  try {
    write_file(folder / "missing" / "x.json", [&](std::ostream& out) { out << text; });
    FAIL() << "wrote into a folder that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCannotWrite.name);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlace::report
