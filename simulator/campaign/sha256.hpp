#pragma once

#include <string>
#include <string_view>

namespace interlace::campaign {

/// The SHA-256 digest (FIPS 180-4) of some bytes, as 64 hexadecimal digits: what `sha256sum` prints.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace interlace::campaign
