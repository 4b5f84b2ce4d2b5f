#include "simulator/cli/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "simulator/cli/errors.hpp"

namespace interlace::cli {

void add_memory_snapshots(CLI::App& command, std::vector<std::string>& memory_snapshots) {
  command.add_option(kMemorySnapshotsOption, memory_snapshots, kMemorySnapshotsHelp)
      ->allow_extra_args(false)
      ->type_name("FILE");
}

ingest::Recording read_recording(const std::vector<std::string>& files,
                                 const std::vector<std::string>& memory_snapshots, Console& console) {
  console.progress(files.size() == 1 ? fmt::format("reading {}", files.front())
                                     : fmt::format("reading {} files", files.size()));
  std::vector<std::filesystem::path> paths(files.begin(), files.end());
  ingest::ReadOptions options;
  options.memory_snapshots.assign(memory_snapshots.begin(), memory_snapshots.end());
  // Of "r0 r1 --memory-snapshot a.pickle b.pickle" the option has the first alone; b is that of the second rank. Where
  // nothing else is named, snapshots are the recordings.
  const auto is_recording = [](const auto& path) { return path.extension() != ".pickle"; };
  if (!memory_snapshots.empty() && std::ranges::any_of(paths, is_recording)) {
    const auto others = std::stable_partition(paths.begin(), paths.end(), is_recording);
    options.memory_snapshots.insert(options.memory_snapshots.end(), others, paths.end());
    paths.erase(others, paths.end());
  }
  return ingest::read(paths, options);
}

bool is_schedule(const std::string& input) {
  const std::filesystem::path path(input);
  const bool of_trace = input.ends_with(".ilt") || input.ends_with(".gz") || input.ends_with(".pickle");
  if (of_trace || !std::filesystem::exists(path)) return !of_trace;
  if (!std::filesystem::is_regular_file(path)) return false;  // what is read from a pipe is gone
  constexpr std::size_t kHead = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.find("\"interlace_schedule\"") != std::string::npos) return true;
  // A small file that is no trace was meant as a schedule: its errors are told as those of one.
  return path.extension() == ".json" && head.size() < kHead && head.find("\"traceEvents\"") == std::string::npos;
}

void refuse_overwriting(const std::string& output, const std::vector<std::string>& files) {
  const std::filesystem::path path = output;
  if (!std::filesystem::exists(path)) return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const std::string& file : files) {
    std::error_code missing;  // reading tells of it
    const auto same = [&](const std::filesystem::path& one) { return std::filesystem::equivalent(one, file, missing); };
    if (same(path) || same(folder)) {
      throw Error(kOutputIsInput, output, "is one of the files to be read", "write to another file or folder");
    }
  }
}

}  // namespace interlace::cli
