#pragma once

#include <libdeflate.h>

#include <string>
#include <string_view>

namespace interlace::testing {

/// One gzip member that holds the text.
inline std::string gzip(std::string_view text) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(1);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

}  // namespace interlace::testing
