#include "simulator/ingest/trace_files.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/format.hpp"

namespace interlace::ingest {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kEndings{".ilt", ".json", ".json.gz", ".sqlite", ".sqlite.gz"};
/// What the GUI keeps beside recordings.
constexpr std::string_view kNotesEnding = ".notes.json";

bool is_trace(const fs::directory_entry& entry) {
  std::error_code unknown;
  if (!entry.is_regular_file(unknown)) return false;
  const std::string name = entry.path().filename().string();
  if (name.ends_with(kNotesEnding)) return false;
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// By name, with numbers in it by their value: rank2 before rank10.
bool comes_before(const fs::path& a, const fs::path& b) {
  const std::string first = a.string();
  const std::string second = b.string();
  std::size_t i = 0;
  std::size_t j = 0;
  const auto number = [](const std::string& text, std::size_t& at) {
    const std::size_t zeros = std::min(text.find_first_not_of('0', at), text.size());
    const std::size_t end = std::min(text.find_first_not_of("0123456789", zeros), text.size());
    at = end;
    return std::string_view(text).substr(zeros, end - zeros);
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < first.size() && j < second.size()) {
    if (is_digit(first[i]) && is_digit(second[j])) {
      const std::string_view mine = number(first, i);
      const std::string_view other = number(second, j);
      if (mine.size() != other.size()) return mine.size() < other.size();
      if (mine != other) return mine < other;
    } else {
      if (first[i] != second[j]) return first[i] < second[j];
      ++i;
      ++j;
    }
  }
  const bool ended = i == first.size();
  return ended != (j == second.size()) ? ended : first < second;
}

/// What `predict --out` writes is one trace a schedule, of the same ranks all: no run.
void refuse_answer(const fs::path& folder, const std::vector<fs::path>& traces) {
  const auto holds = [&](std::string_view name) { return std::ranges::find(traces, folder / name) != traces.end(); };
  if (!holds(kMeasuredTrace) || !holds(kAnswerFile)) return;
  const auto is_prediction = [&](const fs::path& file) {
    return file.extension() == ".ilt" && file.filename() != kMeasuredTrace;
  };
  const auto example = std::ranges::find_if(traces, is_prediction);
  throw Error(
      kFolderOfPredictions, folder.string(), "the folder is one that predict --out wrote, a trace a schedule",
      "name one .ilt file of it, such as " + (example == traces.end() ? folder / kMeasuredTrace : *example).string());
}

bool holds_trace(const fs::path& folder) {
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    if (is_trace(*entry)) return true;
  }
  return false;
}

/// Often the folder of several recordings is named instead of one of them.
[[noreturn]] void refuse_without_traces(const fs::path& folder, std::vector<fs::path> inside) {
  std::ranges::sort(inside);
  const auto report = std::ranges::find_if(inside, [](const fs::path& file) { return is_nsight_report(file); });
  if (report != inside.end()) {
    throw Error(kNoFiles, folder.string(), "the folder holds reports of Nsight Systems, which only its own tools read",
                "export them: nsys export --type sqlite " + report->string());
  }
  const auto meant = std::ranges::find_if(inside, holds_trace);
  throw Error(
      kNoFiles, folder.string(), "the folder holds no file that ends in .ilt, .json, .json.gz, .sqlite or .sqlite.gz",
      meant == inside.end() ? "name the recordings, one file a rank, or the folder that holds them"
                            : "name one recording; a folder in this one that holds such files is " + meant->string());
}

std::vector<fs::path> traces_in(const fs::path& folder, Diagnostics& diagnostics) {
  std::vector<fs::path> traces;
  std::vector<fs::path> others;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    (is_trace(*entry) ? traces : others).push_back(entry->path());
  }
  if (failure) {
    throw Error(kCannotOpen, folder.string(), "the folder cannot be read: " + failure.message(),
                "check the name and that you may read it");
  }
  if (traces.empty()) {
    refuse_without_traces(folder, others);
  }
  // A folder lists its files in any order.
  std::ranges::sort(traces, comes_before);
  refuse_answer(folder, traces);
  if (!others.empty()) {
    diagnostics.count(kOtherFiles, std::ranges::min(others).string(), static_cast<std::int64_t>(others.size()));
  }
  return traces;
}

}  // namespace

std::vector<fs::path> trace_files(std::span<const fs::path> named, Diagnostics& diagnostics) {
  if (named.empty()) throw Error(kNoFiles, "", "no recording was named", "name one file a rank");
  std::vector<fs::path> files;
  for (const fs::path& one : named) {
    std::error_code unknown;
    if (!fs::is_directory(one, unknown)) {
      files.push_back(one);
      continue;
    }
    const std::vector<fs::path> traces = traces_in(one, diagnostics);
    files.insert(files.end(), traces.begin(), traces.end());
  }
  return files;
}

}  // namespace interlace::ingest
