#include "simulator/base/text_file.hpp"

#include <array>
#include <fstream>
#include <system_error>
#include <utility>

namespace interlace {

std::string read_text_file(const std::filesystem::path& file, ErrorCode code, const std::string& advice,
                           std::size_t most_bytes) {
  const auto refuse = [&](std::string problem) { throw Error(code, file.string(), std::move(problem), advice); };
  std::error_code unknown;
  // A folder can be opened, and then reads as an empty file.
  if (std::filesystem::is_directory(file, unknown)) refuse("is a folder");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse("cannot be opened");
  std::string text;
  std::array<char, 1U << 16U> part{};
  while (text.size() <= most_bytes && in) {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) refuse("cannot be read");
  if (text.size() > most_bytes) refuse("has more than " + std::to_string(most_bytes) + " bytes");
  return text;
}

}  // namespace interlace
