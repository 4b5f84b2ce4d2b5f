# cmake -DFOLDER=library -DNAMES=tiny,... -DOUTPUT=library_files.cpp -P embed_library.cmake
#
# Writes a C++ file that holds the text of each FOLDER/NAME.json, in the order of NAMES.
string(REPLACE "," ";" names "${NAMES}")
list(LENGTH names count)
set(text "// Written by embed_library.cmake: edit engine/workload/library/ instead.
#include \"engine/workload/workload.hpp\"

#include <array>

namespace interlace::engine {

namespace {

constexpr std::array<WorkloadEntry, ${count}> kFiles = {{
")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}.json" json)
  string(APPEND text "    {\"${name}\", R\"json(${json})json\"},\n")
endforeach()
string(APPEND text "}};

}  // namespace

std::span<const WorkloadEntry> workload_library() { return kFiles; }

}  // namespace interlace::engine
")
file(WRITE "${OUTPUT}" "${text}")
