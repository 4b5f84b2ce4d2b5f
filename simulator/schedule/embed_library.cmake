# cmake -DFOLDER=library -DNAMES=torchrec/base,... -DOUTPUT=library_files.cpp -P embed_library.cmake
#
# Writes a C++ file that holds the text of each FOLDER/NAME.json, in the order of NAMES.
string(REPLACE "," ";" names "${NAMES}")
list(LENGTH names count)
set(text "// Written by embed_library.cmake: edit simulator/schedule/library/ instead.
#include \"simulator/schedule/library_files.hpp\"

#include <array>

namespace interlace::schedule {

namespace {

constexpr std::array<LibraryEntry, ${count}> kFiles = {{
")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}.json" json)
  string(APPEND text "    {\"${name}\", R\"json(${json})json\"},\n")
endforeach()
string(APPEND text "}};

}  // namespace

std::span<const LibraryEntry> library_files() { return kFiles; }

}  // namespace interlace::schedule
")
file(WRITE "${OUTPUT}" "${text}")
