#include "simulator/ingest/read.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/format.hpp"
#include "simulator/ingest/kineto/rank_file.hpp"
#include "simulator/ingest/same_run.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest {

namespace {

/// Editors on Windows put one before UTF-8.
std::string_view without_byte_order_mark(std::string_view text) {
  static constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

kineto::RankFile read_one(const std::filesystem::path& file, const ReadOptions& options) {
  FileBytes bytes = read_file(file);
  if (is_gzip(bytes.text())) bytes = inflate(bytes.text(), file, options);
  switch (detect_format(without_byte_order_mark(bytes.text()), file)) {
    case Format::kKinetoJson: break;
    case Format::kIlt:
      throw Error(kUnsupportedFormat, file.string(),
                  "this is Interlace's own format (.ilt), which is not read here yet",
                  "name the traces it was made from");
  }
  kineto::RankFile rank_file = kineto::decode_rank_file(without_byte_order_mark(bytes.text()), file);
  if (bytes.trailing_bytes > 0) {
    rank_file.diagnostics.count(kTrailingBytes, file.string(), static_cast<std::int64_t>(bytes.trailing_bytes));
  }
  return rank_file;
}

}  // namespace

Recording read(std::span<const std::filesystem::path> files, const ReadOptions& options) {
  if (files.empty()) throw Error(kNoFiles, "", "no recording was named", "name one file a rank");

  // Of several failures the first in the order of the files is told, whichever came first in time.
  std::vector<kineto::RankFile> rank_files(files.size());
  std::vector<std::exception_ptr> failures(files.size());
  tbb::parallel_for(std::size_t{0}, files.size(), [&](std::size_t i) {
    try {
      rank_files[i] = read_one(files[i], options);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }

  Diagnostics diagnostics;
  const std::vector<std::int32_t> numbers = number_ranks(rank_files, diagnostics);
  std::vector<std::size_t> by_number(files.size());
  std::iota(by_number.begin(), by_number.end(), std::size_t{0});
  std::ranges::sort(by_number, {}, [&](std::size_t i) { return numbers[i]; });

  trace::TraceBuilder builder;
  for (const std::size_t i : by_number) {
    diagnostics.merge(rank_files[i].diagnostics);
    kineto::add_rank(rank_files[i], numbers[i], builder, diagnostics);
    rank_files[i].slices.clear();  // may be as large as the trace itself
  }
  trace::Trace trace = std::move(builder).build(diagnostics);
  return {std::move(trace), std::move(diagnostics)};
}

}  // namespace interlace::ingest
