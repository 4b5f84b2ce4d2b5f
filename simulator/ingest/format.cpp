#include "simulator/ingest/format.hpp"

#include <array>
#include <string>

#include "simulator/base/error.hpp"
#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/file_bytes.hpp"
#include "simulator/ingest/nsys/read_export.hpp"

namespace interlace::ingest {

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t at;
  std::string_view bytes;
  std::string_view what;
  std::string_view advice;
};

constexpr std::array kForeign{
    Signature{0, "\x1f\x8b"sv, "data compressed by gzip twice", "inflate it once"},
    Signature{0, "\x28\xb5\x2f\xfd"sv, "data compressed by zstd", "decompress it: zstd -d"},
    Signature{0,
              "\xfd"
              "7zXZ\0"sv,
              "data compressed by xz", "decompress it: xz -d"},
    Signature{0, "BZh"sv, "data compressed by bzip2", "decompress it: bzip2 -d"},
    Signature{0, "PK\x03\x04"sv, "a zip archive (or what torch.save writes)", "unpack it and name the traces in it"},
    Signature{257, "ustar"sv, "a tar archive", "unpack it and name the traces in it, one a rank"},
};

constexpr std::string_view kIltMagic = "\x89ILT\r\n\x1a\n"sv;

/// Python writes this protocol byte since protocol 2; 0 and 1 look like any text.
bool is_pickle(std::string_view content) { return content.size() > 1 && content[0] == '\x80' && content[1] <= '\x0f'; }

}  // namespace

bool is_nsight_report(const std::filesystem::path& file) {
  const std::filesystem::path ending = file.extension();
  return ending == ".nsys-rep" || ending == ".qdrep" || ending == ".qdstrm";
}

Format detect_format(std::string_view content, const std::filesystem::path& file) {
  if (content.starts_with(kIltMagic)) return Format::kIlt;
  if (nsys::is_database(content)) return Format::kNsightExport;
  if (is_pickle(content)) return Format::kMemorySnapshot;
  for (const Signature& signature : kForeign) {
    if (content.size() < signature.at || !content.substr(signature.at).starts_with(signature.bytes)) continue;
    throw Error(kUnsupportedFormat, file.string(), "this seems to be " + std::string(signature.what),
                std::string(signature.advice));
  }
  const std::size_t first = content.find_first_not_of(" \n\r\t");
  if (first != std::string_view::npos && content[first] == '{') return Format::kKinetoJson;
  if (first != std::string_view::npos && content[first] == '[') {
    throw Error(kUnsupportedFormat, file.string(),
                "this seems to be a bare JSON list, such as the profiler of PyTorch before 1.8 wrote",
                "record with torch.profiler.profile");
  }
  if (is_nsight_report(file)) {
    throw Error(kUnsupportedFormat, file.string(), "this seems to be a report of Nsight Systems",
                "export it and name that: nsys export --type sqlite " + file.string());
  }
  throw Error(
      kUnknownFormat, file.string(), "neither JSON nor any format that is known",
      "name traces of the PyTorch profiler (*.pt.trace.json, may be .gz), .ilt files, exports of Nsight Systems "
      "(.sqlite), folders of these, or memory snapshots (.pickle)");
}

}  // namespace interlace::ingest
