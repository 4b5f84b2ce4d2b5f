#pragma once

#include <string_view>

namespace interlace::stages {

/// The texts of the files in profiles/, compiled in.
extern const std::string_view kTorchrecProfileText;
extern const std::string_view kInterlaceProfileText;

}  // namespace interlace::stages
