#include "simulator/cli/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "simulator/cli/errors.hpp"
#include "simulator/trace/ilt/reader.hpp"

namespace interlace::cli {

namespace {

bool is_ilt(const std::filesystem::path& file) {
  std::array<char, 8> first{};
  std::ifstream in(file, std::ios::binary);
  in.read(first.data(), first.size());
  std::array<std::uint8_t, 8> bytes{};
  std::ranges::transform(first, bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return in.gcount() == static_cast<std::streamsize>(first.size()) && trace::looks_like_ilt(bytes);
}

}  // namespace

ingest::Recording read_recording(const std::vector<std::string>& files, Console& console) {
  console.progress(files.size() == 1 ? fmt::format("reading {}", files.front())
                                     : fmt::format("reading {} files", files.size()));
  const std::vector<std::filesystem::path> paths(files.begin(), files.end());
  const auto ilt = std::ranges::find_if(paths, is_ilt);
  if (ilt == paths.end()) return ingest::read(paths);
  if (paths.size() > 1) {
    throw Error(kSeveralIlt, ilt->string(),
                "an .ilt trace holds all ranks of its run; it cannot be joined with other files", "name it alone");
  }
  Diagnostics diagnostics;
  trace::Trace trace = trace::read_ilt(paths.front(), diagnostics);
  return {std::move(trace), std::move(diagnostics)};
}

}  // namespace interlace::cli
