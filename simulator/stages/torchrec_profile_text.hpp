#pragma once

#include <string_view>

namespace interlace::stages {

/// The text of profiles/torchrec.json, compiled in.
extern const std::string_view kTorchrecProfileText;

}  // namespace interlace::stages
