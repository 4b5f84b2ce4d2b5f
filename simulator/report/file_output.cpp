#include "simulator/report/file_output.hpp"

#include <libdeflate.h>

#include <cstddef>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/whole_file.hpp"
#include "simulator/report/errors.hpp"

namespace interlace::report {

namespace {

std::vector<char> gzip(const std::string& text) {
  struct Free {
    void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  };
  constexpr int kLevel = 6;
  const std::unique_ptr<libdeflate_compressor, Free> compressor(libdeflate_alloc_compressor(kLevel));
  if (!compressor) throw std::bad_alloc();
  std::vector<char> compressed(libdeflate_gzip_compress_bound(compressor.get(), text.size()));
  const std::size_t size =
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), compressed.data(), compressed.size());
  compressed.resize(size);
  return compressed;
}

}  // namespace

void write_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write) {
  WholeFile out(file);
  if (!out.is_open()) {
    throw Error(kCannotWrite, file.string(), "the file cannot be made",
                "check that its folder exists and may be written to");
  }
  if (file.extension() == ".gz") {
    std::ostringstream text;
    write(text);
    const std::vector<char> compressed = gzip(std::move(text).str());
    out.stream().write(compressed.data(), static_cast<std::streamsize>(compressed.size()));
  } else {
    write(out.stream());
  }
  if (!out.finish()) throw Error(kCannotWrite, file.string(), "writing failed", "check that the disk has room");
}

}  // namespace interlace::report
