#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest::kineto {

/// What a file says about itself, beside its events.
struct Header {
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> world_size;
  std::vector<std::int32_t> group_of_all;  ///< ranks of the default process group, where told
  Nanoseconds base_time = 0;               ///< to be added to every time in the file
  std::string host_name;
  std::string producer;
  std::vector<trace::Device> devices;
};

/// fields: JSON text by name, as Document has them. Fields of unexpected shape count kineto.unreadable_header.
[[nodiscard]] Header read_header(const std::map<std::string, std::string, std::less<>>& fields,
                                 const std::filesystem::path& file, Diagnostics& diagnostics);

}  // namespace interlace::ingest::kineto
