#include "simulator/base/random_name.hpp"

#include <random>
#include <string_view>

namespace interlace {

std::string random_name() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kLength = 16;
  std::random_device random;
  std::string name;
  while (name.size() < kLength) name += kDigits[random() % kDigits.size()];
  return name;
}

}  // namespace interlace
