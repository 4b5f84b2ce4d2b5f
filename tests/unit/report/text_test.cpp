#include "simulator/report/text.hpp"

#include <gtest/gtest.h>

namespace interlace::report {
namespace {

TEST(Text, CountsCodePointsWithoutEscapes) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("├─●"), 3U);
  EXPECT_EQ(columns_of(coloured({.colour = true}, Colour::kGood, "abc")), 3U);
  EXPECT_EQ(coloured({.colour = false}, Colour::kGood, "abc"), "abc");
}

TEST(Text, ShortensToTheColumnsAsked) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefgh", 6), "abc...");
  EXPECT_EQ(shortened("abcdefgh", 2), "ab");
  EXPECT_EQ(shortened("äöüäöüäö", 5), "äö...");
  // 9 columns: 3 for the dots, of the other 6 two thirds in front.
  EXPECT_EQ(shortened_middle("abcdefghijkl", 9), "abcd...kl");
  EXPECT_EQ(shortened_middle("abcdefghi", 9), "abcdefghi");
  EXPECT_EQ(shortened_front("/long/path/file.json", 12), "...file.json");
}

TEST(Text, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("a  veryverylongword b", 5), (std::vector<std::string>{"a", "veryverylongword", "b"}));
  EXPECT_TRUE(wrapped("", 5).empty());
}

TEST(Text, Numbers) {
  EXPECT_EQ(milliseconds(33'916'000), "33.92");
  EXPECT_EQ(milliseconds(4'999), "0.00");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(Bytes{3} << 30), "3.00 GiB");
  EXPECT_EQ(percent(0.854), "85 %");
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1'234'567), "1,234,567");
  EXPECT_EQ(thousands(-123'456), "-123,456");
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(12'345, "step"), "12,345 steps");
}

TEST(Text, KernelNamesLoseParametersAndInnerTemplates) {
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
                              "std::array<char*, 2ul> >(int, float)"),
            "at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<>, std::array<> >");
  EXPECT_EQ(short_kernel_name("void k<f<g<int>>(a<b>)::{lambda(int)#1}>(h<i>)"), "k<f<>::{lambda#1}>");
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax<(anonymous namespace)::X>(float*)"),
            "{anonymous}::softmax<{anonymous}::X>");
  EXPECT_EQ(short_kernel_name("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)"),
            "cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>");
  EXPECT_EQ(short_kernel_name("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n"), "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n");
  EXPECT_EQ(short_kernel_name("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "ncclDevKernel_SendRecv");
  EXPECT_EQ(short_kernel_name("Memcpy DtoH (Device -> Pinned)"), "Memcpy DtoH");
  EXPECT_EQ(short_kernel_name("(odd)"), "(odd)");
  EXPECT_EQ(short_kernel_name("operator>(a)"), "operator>");
  EXPECT_EQ(short_kernel_name(""), "");
}

TEST(TextTable, AlignsColumns) {
  TextTable table({{"name"}, {"ms", Align::kRight}});
  table.add({"a", "1.25"});
  table.add({"longer", "10.50"});
  EXPECT_EQ(table.text({}, 2),
            "  name       ms\n"
            "  a        1.25\n"
            "  longer  10.50\n");
}

TEST(TextTable, ShortensNamesWhereTheyDoNotFit) {
  TextTable table({{"a kernel"}, {"total time", Align::kRight}});
  table.add({"abcdefghijklmnopqrst", "12.5"});
  // Two columns between and five of "total" leave thirteen.
  EXPECT_EQ(table.text({.width = 20}), "               total\na kernel        time\nabcdef...qrst   12.5\n");
  EXPECT_EQ(table.text({.width = 32}), "a kernel              total time\nabcdefghijklmnopqrst        12.5\n");
}

// Two columns between any two: 4 + 2 + 7 + 2 + 6 = 21, and no cell to shorten.
TEST(Text, CutsTextsWhereTheyStayApart) {
  const std::vector<std::string> files{"traces/sparse.r0.json.gz", "traces/sparse.r1.json.gz"};
  EXPECT_EQ(shortened_apart(files, 18, Cut::kMiddle),
            (std::vector<std::string>{"...arse.r0.json.gz", "...arse.r1.json.gz"}))
      << "the middle holds what differs";
  const std::vector<std::string> streams{"stream 20 (non-blocking)", "stream 16 (non-blocking)"};
  EXPECT_EQ(shortened_apart(streams, 12, Cut::kFront), (std::vector<std::string>{"stream 20...", "stream 16..."}));
  const std::vector<std::string> both{"recordings_of_one_job/r0/trace_of_all_steps",
                                      "recordings_of_one_job/r1/trace_of_all_steps"};
  EXPECT_EQ(shortened_apart(both, 12, Cut::kMiddle), (std::vector<std::string>{"...b/r0/t...", "...b/r1/t..."}));
  EXPECT_EQ(shortened_apart({"abcdefghijkl", "short", "abcdefghijkl"}, 9, Cut::kMiddle),
            (std::vector<std::string>{"abcd...kl", "short", "abcd...kl"}))
      << "nothing else reads so";
}

TEST(TextTable, TakesBrieferCellsBeforeItCutsAny) {
  const auto without_remark = [](std::string_view cell) { return std::string(cell.substr(0, cell.find(" ("))); };
  TextTable table({{"stream", Align::kLeft, Cut::kMiddle, 24, without_remark}, {"role"}});
  table.add({"stream 20 (blocking)", "communication"});
  table.add({"stream 16 (blocking)", "copy"});
  EXPECT_EQ(table.text({.width = 24}),
            "stream     role\n"
            "stream 20  communication\n"
            "stream 16  copy\n");
  EXPECT_NE(table.text({.width = 40}).find("stream 20 (blocking)"), std::string::npos);
  table.add({"stream 16 (default)", "copy"});
  EXPECT_EQ(table.text({.width = 24}).find("stream 16  "), std::string::npos) << "two streams would read the same";
}

TEST(TextTable, PutsColumnsThatFindNoRoomBelow) {
  TextTable table({{"name"}, {"compute", Align::kRight}, {"copies", Align::kRight}});
  table.add({"main", "31.73", "0.01"});
  table.add({"copy", "0.00", "6.36"});
  EXPECT_EQ(table.text({.width = 21}),
            "name  compute  copies\n"
            "main    31.73    0.01\n"
            "copy     0.00    6.36\n");
  EXPECT_EQ(table.text({.width = 20}),
            "name  compute\n"
            "    copies\n"
            "main    31.73\n"
            "      0.01\n"
            "copy     0.00\n"
            "      6.36\n");
}

}  // namespace
}  // namespace interlace::report
