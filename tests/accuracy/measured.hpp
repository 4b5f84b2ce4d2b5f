#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace interlace::replay {

/// What the measurements of the shipped recordings call the schedules.
inline const std::map<std::string, std::string> kMeasuredAs{
    {"torchrec/base", "base"},
    {"torchrec/sparse_dist", "sparse"},
    {"torchrec/sparse_dist_inplace", "sparse:inplace"},
    {"torchrec/fused_sparse_dist", "fused:s=data_dist"},
    {"torchrec/fused_sparse_dist_new_stream", "fused:s=new"},
    {"torchrec/semi_sync", "semi"},
};

/// What one rank measured without a profiler, by schedule.
inline nlohmann::json measured(const std::filesystem::path& file) {
  std::ifstream in(file);
  return nlohmann::json::parse(in)["results"];
}

}  // namespace interlace::replay
