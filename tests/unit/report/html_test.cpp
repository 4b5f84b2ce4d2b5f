#include <gtest/gtest.h>

#include <sstream>

#include "simulator/report/html_report.hpp"
#include "simulator/report/svg.hpp"
#include "simulator/report/svg_axis.hpp"
#include "tests/unit/analysis/job.hpp"
#include "tests/unit/report/markup_checker.hpp"
#include "tests/unit/report/sample_report.hpp"

namespace interlace::report {
namespace {

using analysis::Job;

TEST(MarkupChecker, SeesFaults) {
  EXPECT_FALSE(markup_problem("<a><b x=\"1 &amp; 2\"/></a>").has_value());
  EXPECT_TRUE(markup_problem("<a><b></a></b>").has_value());
  EXPECT_TRUE(markup_problem("<a>1 & 2</a>").has_value());
  EXPECT_TRUE(markup_problem("<a>").has_value());
  EXPECT_TRUE(markup_problem("<a>1 < 2</a>").has_value());
}

TEST(AxisMarks, AreRoundAndInside) {
  EXPECT_EQ(axis_marks(32, 37, 6), (std::vector<Nanoseconds>{32, 33, 34, 35, 36, 37}));
  EXPECT_EQ(axis_marks(32, 37, 5), (std::vector<Nanoseconds>{32, 34, 36}));
  EXPECT_EQ(axis_marks(0, 34'000'000, 8),
            (std::vector<Nanoseconds>{0, 5'000'000, 10'000'000, 15'000'000, 20'000'000, 25'000'000, 30'000'000}));
  EXPECT_TRUE(axis_marks(5, 5, 4).empty());
  EXPECT_EQ(mark_text(35'500'000, 500'000), "35.5 ms");
  EXPECT_EQ(mark_text(35'000'000, 5'000'000), "35 ms");
  EXPECT_EQ(mark_text(120, 20), "120 ns");
}

TEST(Markup, EscapesWhatXmlForbids) {
  EXPECT_EQ(escaped_markup("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped_markup("\x01 \xff ä"), "\xEF\xBF\xBD \xEF\xBF\xBD ä");
}

// Stage a of batch 1 launches two kernels 3 ns apart and one 20 ns later; with a resolution of 5 the first two are one
// box. The stream's overlapping kernel gets a row of its own.
TEST(TimelinePicture, MergesNeighboursAndKeepsOverlapsApart) {
  Job job;
  job.annotate("a 1", 0, 10);
  job.annotate("b 1", 10, 30);
  job.kernel(job.main, 1, 20, 30, "first");
  job.kernel(job.main, 2, 33, 40, "second");
  job.kernel(job.main, 3, 60, 70, "third");
  job.kernel(job.main, 12, 65, 80, "over third");
  job.sync(trace::SyncKind::kStreamSync, 15, 25);
  const trace::Trace trace = job.build();
  const analysis::Annotations annotations(trace);
  const TimelinePicture picture = timeline_picture(trace, annotations, {0}, {10, 75}, "measured", 5);

  EXPECT_EQ(picture.length, 65);
  const std::vector<TimelineRow> expected{
      {"host", {{{0, 20}, BoxKind::kStage, "b 1", "b 1"}}},
      {"host blocked", {{{5, 15}, BoxKind::kBlocked, "b 1", "cudaStreamSynchronize"}}},
      {"stream 7",
       {{{10, 30}, BoxKind::kCompute, "a 1", "first and 1 more"}, {{50, 60}, BoxKind::kCompute, "a 1", "third"}}},
      {"stream 7 (overlap 1)", {{{55, 65}, BoxKind::kCompute, "b 1", "over third"}}}};
  ASSERT_EQ(picture.rows.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(picture.rows[i], expected[i]) << expected[i].name;
}

TEST(Html, IsWellFormedAndNeedsNothingElse) {
  Job job;
  job.annotate("a <1> & 1", 0, 10);
  job.kernel(job.main, 1, 20, 30, "void k<int>(char&)");
  const trace::Trace trace = job.build();
  const analysis::Annotations annotations(trace);
  const std::vector<TimelineComparison> timelines{
      {"torchrec/base", {timeline_picture(trace, annotations, {0}, {0, 40}, "measured <rank 0>", 0)}}};
  PredictReport report = sample_report();
  report.predictions[0].reasons.emplace_back("a<b & c");
  std::ostringstream out;
  write_html(out, report, timelines);
  const std::string page = out.str();
  EXPECT_EQ(markup_problem(page), std::nullopt);
  for (const std::string_view outside : {"src=", "href=", "@import", "url("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(page.find("a&lt;b &amp; c"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(page.find("kineto.lost"), std::string::npos);
  EXPECT_NE(page.find("<td>yes, 1 known</td>"), std::string::npos);
  EXPECT_NE(page.find("<li>Known hazard: free_before_last_use of output_exchange(i)</li>"), std::string::npos);
}

TEST(Html, AReportWithoutPredictionsIsStillAPage) {
  std::ostringstream out;
  write_html(out, {}, {});
  EXPECT_EQ(markup_problem(out.str()), std::nullopt);
}

}  // namespace
}  // namespace interlace::report
