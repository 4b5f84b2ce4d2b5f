#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "simulator/report/info_report.hpp"
#include "tests/unit/analysis/job.hpp"

namespace interlace::report {
namespace {

using analysis::Job;

InfoReport sample_info() {
  Job job;
  for (Nanoseconds t = 0; t < 3'000'000; t += 1'000'000) {
    job.annotate("## backward " + std::to_string(t / 1'000'000) + " ##", t, t + 400'000);
    job.kernel(job.main, t + 10'000, t + 100'000, t + 600'000, "void gemm<float>(int)");
    job.sync(trace::SyncKind::kStreamSync, t + 200'000, t + 300'000);
  }
  job.collective(job.side, 1'000'000, 1'150'000, 1'160'000);
  job.builder.add_allocation({job.thread, job.builder.intern("[memory]"), 5'000, 0, {}},
                             {.bytes = 1 << 20, .total_reserved = 2 << 20, .stream_handle = 0x58fb'99a0});
  trace::AllocatorState state{.rank = job.rank, .settings = "expandable_segments:True,max_split_size_mb:512"};
  state.segments.push_back({.address = 4'096, .bytes = 20 << 20, .stream_handle = 0x58fb'99a0});
  state.segments.back().blocks = {{4'096, 3 << 20, 1, trace::BlockState::kAllocated},
                                  {(3 << 20) + 4'096, 17 << 20, 1, trace::BlockState::kPendingFree}};
  job.builder.add_allocator_state(state);
  job.builder.set_handle(job.main, 0x58fb'99a0);
  const trace::Trace trace = job.build();
  Diagnostics diagnostics;
  diagnostics.count(trace::kNegativeDuration, "r0.json");
  return make_info(trace, diagnostics, 10);
}

// Steps end where backward's kernel does: 0.6, 1.6 and 2.6 ms; the window holds two, each with 0.5 ms of kernel and a
// sync of 0.1 ms.
TEST(Info, TellsStepsStreamsAndWaits) {
  const InfoReport info = sample_info();
  ASSERT_EQ(info.ranks.size(), 1U);
  EXPECT_EQ(info.ranks[0].window, (analysis::StepWindow{.span = {600'000, 2'600'000}, .steps = 2}));
  EXPECT_EQ(info.ranks[0].overlap.compute_ns, 500'000);
  ASSERT_EQ(info.streams.size(), 3U);
  EXPECT_EQ(info.streams[0].use.role, analysis::StreamRole::kMain);
  ASSERT_EQ(info.host_blocks.size(), 1U);
  EXPECT_EQ(info.host_blocks[0].stage, "backward");
  EXPECT_EQ(info.host_blocks[0].blocked_ns, 100'000);
  ASSERT_EQ(info.kernels.size(), 1U);
  EXPECT_EQ(info.kernels[0].count, 3);
}

TEST(Info, CountsWhatTheProgramSaidOfOperations) {
  Job job;
  const trace::Note number{.payload = trace::Number{trace::NumberType::kInt64, 3},
                           .category = job.builder.intern("io")};
  const trace::Note open{.is_open = true};
  const trace::Note external{.external = trace::ExternalId{trace::ExternalKind::kCustom0, 9}};
  const auto noted = [&](const trace::Note& note, Nanoseconds start) {
    return trace::TraceBuilder::Common{
        .lane = job.thread, .name = job.builder.intern("a"), .start = start, .note = &note};
  };
  job.builder.add_range(noted(number, 5), {});
  job.builder.add_range(noted(number, 6), {});
  job.builder.add_range(noted(open, 7), {});
  job.builder.add_host_call(noted(external, 8));
  const InfoReport info = make_info(job.build(), {}, 10);
  EXPECT_EQ(info.notes,
            (analysis::NoteTally{.payloads = 2, .open_ranges = 1, .externals = 1, .categories = {{"io", 2}}}));
  std::ostringstream table;
  write_info_table(table, info, {});
  for (const std::string_view part : {"with a number: 2", "categories of ranges and marks: io (2)",
                                      "ranges without an end: 1", "calls with an id of the program's own: 1"}) {
    EXPECT_NE(table.str().find(part), std::string::npos) << part << " in\n" << table.str();
  }
  std::ostringstream json;
  write_info_json(json, info);
  EXPECT_EQ(nlohmann::json::parse(json.str())["notes"],
            nlohmann::json::parse(R"({"payloads": 2, "categories": {"io": 2}, "open_ranges": 1, "external_ids": 1})"));
}

// One host wait of 0.1 ms and a device that idles until its only kernel.
TEST(Info, OfARecordingWithoutStepsIsNotAStep) {
  Job job;
  job.annotate("load", 0, 400'000);
  job.sync(trace::SyncKind::kStreamSync, 100'000, 200'000);
  job.kernel(job.main, 210'000, 220'000, 600'000);
  const InfoReport info = make_info(job.build(), {}, 10);
  std::ostringstream table;
  write_info_table(table, info, {});
  for (const std::string_view part : {"what the host waits for, mean over ranks, over the whole recording",
                                      "why the device idles, mean over ranks, over the whole recording"}) {
    EXPECT_NE(table.str().find(part), std::string::npos) << part << " in\n" << table.str();
  }
  EXPECT_EQ(table.str().find("a step"), std::string::npos) << table.str();
  std::ostringstream json;
  write_info_json(json, info);
  const auto rank = nlohmann::json::parse(json.str())["ranks"][0];
  EXPECT_TRUE(rank["step_time_ns"].is_null());
  EXPECT_EQ(rank["window"]["end_ns"], 600'000);
}

TEST(Info, TableFitsTheTerminal) {
  std::ostringstream out;
  write_info_table(out, sample_info(), {});
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 100U) << line;
  for (const std::string_view part :
       {"ranks", "streams, a step", "top kernels", "gemm<float>", "what the host waits for", "why the device idles",
        "memory of the allocator", "memory by stream", "0x58fb99a0", "20.0 MiB", "data quality",
        "trace.negative_duration x 1"}) {
    EXPECT_NE(out.str().find(part), std::string::npos) << part;
  }
}

// Three kernels in two steps, of which the window holds one each; of the collective no size is known.
TEST(Info, TellsOfStreamsWhatTheyDoInAStep) {
  std::ostringstream out;
  write_info_table(out, sample_info(), {});
  const auto line_of = [&](std::string_view part) {
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find(part) != std::string::npos) return line;
    }
    return std::string();
  };
  EXPECT_NE(line_of("main").find("-           1     0.50"), std::string::npos) << out.str();
  EXPECT_NE(line_of("ncclDevKernel_SendRecv").find("-         -     0.01"), std::string::npos) << out.str();
  Job no_steps;
  no_steps.kernel(no_steps.main, 1, 10, 20);
  std::ostringstream whole;
  write_info_table(whole, make_info(no_steps.build(), {}, 10), {});
  EXPECT_NE(whole.str().find("streams, over the whole recording\n"), std::string::npos) << whole.str();
}

TEST(Info, SaysWhatTellsTheSteps) {
  const auto text_of = [](const InfoReport& info) {
    std::ostringstream out;
    write_info_table(out, info, {});
    return out.str();
  };
  EXPECT_NE(text_of(sample_info()).find("\"backward\" (3 of them, as many as of most"), std::string::npos)
      << text_of(sample_info());
  Job job;
  job.annotate("ProfilerStep#7", 0, 1'000'000);
  InfoReport one_step = make_info(job.build(), {}, 10);
  EXPECT_NE(text_of(one_step).find("rank 0: one step only, the \"ProfilerStep\" (known by name); figures are of the "
                                   "whole 1.00 ms"),
            std::string::npos)
      << text_of(one_step);
  InfoReport within = sample_info();
  within.ranks[0].steps->marker = "ProfilerStep";
  EXPECT_NE(text_of(within).find("on the device \"backward\""), std::string::npos) << text_of(within);
  one_step.ranks.push_back(one_step.ranks.front());
  EXPECT_NE(text_of(one_step).find("all ranks: one step only"), std::string::npos) << text_of(one_step);
}

TEST(Info, SaysWhichStepsOfTheHostItIsOf) {
  const auto text_of = [](const InfoReport& info) {
    std::ostringstream out;
    write_info_table(out, info, {});
    return out.str();
  };
  InfoReport info = sample_info();
  EXPECT_EQ(text_of(info).find("got ahead"), std::string::npos) << text_of(info);
  info.ranks[0].host_window.steps = 1;
  EXPECT_NE(text_of(info).find("of 1 of 2 steps of the host, in which it neither got ahead of the device nor stalled"),
            std::string::npos)
      << text_of(info);
  info.host_ahead = true;
  EXPECT_NE(text_of(info).find("it waits for more in a longer recording"), std::string::npos) << text_of(info);
}

TEST(Info, JsonHoldsTheSame) {
  std::ostringstream out;
  write_info_json(out, sample_info());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["ranks"][0]["step_time_ns"], 1'000'000);
  EXPECT_EQ(json["ranks"][0]["steps"]["marker"], "backward");
  EXPECT_EQ(json["ranks"][0]["steps"]["told_by"], "usual_count");
  EXPECT_EQ(json["ranks"][0]["steps"]["ended_by"], "backward");
  EXPECT_EQ(json["operations"]["kernel"], 3);
  EXPECT_EQ(json["streams"][0]["role"], "main");
  EXPECT_EQ(json["streams"][0]["busy_of_class"]["compute_ns"], 500'000);
  EXPECT_EQ(json["host_blocks"][0]["by"], "stream sync");
  EXPECT_EQ(json["host_ahead"], false);
  EXPECT_EQ(json["ranks"][0]["host_window"],
            nlohmann::json::parse(R"({"begin_ns": 0, "end_ns": 2000000, "steps": 2})"));
  EXPECT_EQ(json["memory"][0]["allocated_peak_bytes"], 3 << 20);
  EXPECT_EQ(json["memory"][0]["active_peak_bytes"], 20 << 20);
  EXPECT_EQ(json["memory"][0]["streams"][0]["pending_bytes"], 17 << 20);
  EXPECT_EQ(json["memory"][0]["streams"][0]["stream"], "stream 7");
  EXPECT_EQ(json["diagnostics"][0]["code"], "trace.negative_duration");
}

TEST(Info, AnEmptyTraceIsTold) {
  Job job;
  std::ostringstream out;
  write_info_table(out, make_info(job.build(), {}, 10), {});
  EXPECT_NE(out.str().find("no outermost annotation repeats"), std::string::npos);
}

}  // namespace
}  // namespace interlace::report
