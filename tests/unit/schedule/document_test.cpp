#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {
namespace {

std::string document() {
  std::stringstream text;
  text << std::ifstream(std::filesystem::path(INTERLACE_SOURCE_DIR) / "docs/schedule_language.md").rdbuf();
  return text.str();
}

std::string resource_word(Resource resource) {
  return std::string(traits_of(resource).name) + (traits_of(resource).per_batch ? "(i)" : "");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text.append(", ");
    text.append(word);
  }
  return text;
}

// The row of a stage in the table of docs/schedule_language.md, made from the code.
std::string row_of(Stage stage, std::optional<Part> part) {
  const StageEffects& effects = effects_of(stage, part);
  std::vector<std::string> reads;
  for (const Read& read : effects.reads) {
    const bool may_be_absent = traits_of(read.resource).per_batch && !read.required;
    reads.push_back(resource_word(read.resource).append(may_be_absent ? "?" : ""));
  }
  std::vector<std::string> writes;
  for (const Resource resource : effects.writes) writes.push_back(resource_word(resource));
  std::string row = fmt::format("| `{}`", to_string(stage));
  if (part) row += fmt::format(", `{}`", to_string(*part));
  const auto host = effects.host == HostBlock::kStream ? "yes" : effects.host == HostBlock::kByMode ? "by mode" : "";
  for (const std::string& cell :
       {joined(reads), joined(writes), std::string(host), std::string(effects.issues_collective ? "yes" : "")}) {
    row += cell.empty() ? " |" : fmt::format(" | {}", cell);
  }
  return row + " |\n";
}

TEST(Document, HasTheEffectsThatTheCodeHas) {
  const std::string text = document();
  std::size_t rows = 0;
  const auto expect_row = [&](Stage stage, std::optional<Part> part) {
    EXPECT_NE(text.find(fmt::format("\n{}", row_of(stage, part))), std::string::npos)
        << "missing: " << row_of(stage, part);
    ++rows;
  };
  for (std::size_t i = 0; i < kStages; ++i) expect_row(static_cast<Stage>(i), std::nullopt);
  expect_row(Stage::kBackward, Part::kDense);
  expect_row(Stage::kBackward, Part::kEmbedding);

  const std::string heading = "| stage | reads | writes | host waits | collective |\n|---|---|---|---|---|\n";
  const std::size_t begin = text.find(heading) + heading.size();
  const std::string table = text.substr(begin, text.find("\n\n", begin) + 1 - begin);
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), rows);
}

TEST(Document, ItsExampleIsASchedule) {
  const std::string text = document();
  const std::string fence = "```json\n";
  const std::size_t begin = text.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const std::string example =
      text.substr(begin + fence.size(), text.find("```", begin + fence.size()) - begin - fence.size());
  EXPECT_EQ(parse(example, "docs/schedule_language.md").name, "mine/overlapped_input");
}

}  // namespace
}  // namespace interlace::schedule
