#include "simulator/ingest/file_bytes.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "simulator/base/physical_memory.hpp"
#include "simulator/ingest/errors.hpp"

namespace interlace::ingest {

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
/// DEFLATE cannot pack better: a length code of 258 bytes takes two bits at least.
constexpr std::size_t kHighestDeflateRatio = 1032;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct FreeDecompressor {
  void operator()(libdeflate_decompressor* inflater) const { libdeflate_free_decompressor(inflater); }
};

[[noreturn]] void cannot_open(const std::filesystem::path& file, int error) {
  throw Error(kCannotOpen, file.string(), std::generic_category().message(error),
              "check the name and that you may read it");
}

std::size_t inflation_limit(std::size_t compressed, const ReadOptions& options) {
  std::size_t limit = 16 * static_cast<std::size_t>(kGibibyte);
  if (options.max_inflated_bytes) {
    limit = static_cast<std::size_t>(std::max<Bytes>(1, *options.max_inflated_bytes));
  } else if (const auto memory = physical_memory()) {
    limit = std::min(limit, static_cast<std::size_t>(*memory / 2));
  }
  const auto ratio = static_cast<std::size_t>(std::max<std::int64_t>(1, options.max_inflation_ratio));
  return std::min(limit, std::max(256 * kMebibyte, compressed * ratio));
}

/// What the last four bytes of a gzip member say: its size modulo 2^32. Damaged or joined files say something else.
std::size_t size_in_trailer(std::string_view gzip) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= std::size_t{static_cast<unsigned char>(gzip[gzip.size() - 4 + i])} << (8 * i);
  }
  return size;
}

void grow(FileBytes& output, std::size_t& capacity, std::size_t new_capacity) {
  auto larger = std::make_unique_for_overwrite<char[]>(new_capacity);
  if (output.size > 0) std::memcpy(larger.get(), output.data.get(), output.size);
  output.data = std::move(larger);
  capacity = new_capacity;
}

}  // namespace

FileBytes read_file(const std::filesystem::path& file) {
  std::error_code failure;
  if (std::filesystem::is_directory(file, failure)) cannot_open(file, EISDIR);
  const std::unique_ptr<std::FILE, CloseFile> input(std::fopen(file.c_str(), "rb"));
  if (!input) cannot_open(file, errno);

  // The size is a hint: it is 0 for a pipe.
  const std::uintmax_t hint = std::filesystem::file_size(file, failure);
  FileBytes bytes;
  std::size_t capacity = 0;
  grow(bytes, capacity, failure ? kMebibyte : static_cast<std::size_t>(hint) + 1);
  while (true) {
    bytes.size += std::fread(bytes.data.get() + bytes.size, 1, capacity - bytes.size, input.get());
    if (std::ferror(input.get()) != 0) cannot_open(file, errno);
    if (std::feof(input.get()) != 0) break;
    grow(bytes, capacity, capacity * 2);
  }
  if (bytes.size == 0) throw Error(kEmptyFile, file.string(), "the file is empty", "record again, or copy it again");
  return bytes;
}

std::string first_bytes(const std::filesystem::path& file) {
  constexpr std::size_t kEnough = 32;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};
  const std::unique_ptr<std::FILE, CloseFile> opened(std::fopen(file.c_str(), "rb"));
  if (opened == nullptr) return {};
  std::string bytes(kEnough, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), opened.get()));
  return bytes;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

FileBytes inflate(std::string_view gzip, const std::filesystem::path& file, const ReadOptions& options) {
  const std::size_t limit = inflation_limit(gzip.size(), options);
  const auto too_large = [&] {
    throw Error(kInflatesTooLarge, file.string(),
                fmt::format("{} compressed bytes inflate to more than {} bytes", gzip.size(), limit),
                "record fewer steps; if the file is sound, inflate it yourself and name the inflated file");
  };
  const auto damaged = [&](std::size_t at) {
    throw Error(kDamagedGzip, fmt::format("{}: byte {}", file.string(), at),
                fmt::format("the compressed data that starts here is damaged, or cut off at byte {}, the file's end",
                            gzip.size()),
                "copy the file again, or record again");
  };
  static constexpr std::size_t kSmallestMember = 18;
  if (gzip.size() < kSmallestMember) damaged(0);

  std::size_t expected = size_in_trailer(gzip);
  if (expected > gzip.size() * kHighestDeflateRatio) expected = 0;  // not a size: the file is damaged or has a tail
  if (expected > limit) too_large();

  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> inflater(libdeflate_alloc_decompressor());
  if (!inflater) throw std::bad_alloc();
  FileBytes output;
  std::size_t capacity = 0;
  grow(output, capacity, std::min(limit, std::max({expected, gzip.size() * 4, std::size_t{4096}})));
  std::size_t at = 0;
  while (is_gzip(gzip.substr(at))) {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(inflater.get(), gzip.data() + at, gzip.size() - at,
                                      output.data.get() + output.size, capacity - output.size, &consumed, &produced);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      if (capacity >= limit) too_large();
      grow(output, capacity, std::min(limit, capacity * 2));
    } else if (result != LIBDEFLATE_SUCCESS) {
      damaged(at);
    } else {
      output.size += produced;
      at += consumed;
    }
  }
  if (gzip.find_first_not_of('\0', at) != std::string_view::npos) output.trailing_bytes = gzip.size() - at;
  if (output.size == 0) throw Error(kEmptyFile, file.string(), "the file inflates to nothing", "record again");
  return output;
}

}  // namespace interlace::ingest
