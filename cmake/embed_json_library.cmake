# cmake -DFOLDER=library -DNAMES=torchrec/base,... -DHEADER=... -DNAMESPACE=... -DENTRY=... -DFUNCTION=...
#       -DOUTPUT=library_files.cpp -P embed_json_library.cmake
#
# Writes a C++ file that holds the text of each FOLDER/NAME.json, in the order of NAMES: NAMESPACE::FUNCTION(), declared in
# HEADER, gives an ENTRY {name, text} for each.
string(REPLACE "," ";" names "${NAMES}")
list(LENGTH names count)
set(text "// Written by embed_json_library.cmake: edit the files that it holds instead.
#include \"${HEADER}\"

#include <array>

namespace ${NAMESPACE} {

namespace {

constexpr std::array<${ENTRY}, ${count}> kFiles = {{
")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}.json" json)
  string(APPEND text "    {\"${name}\", R\"json(${json})json\"},\n")
endforeach()
string(APPEND text "}};

}  // namespace

std::span<const ${ENTRY}> ${FUNCTION}() { return kFiles; }

}  // namespace ${NAMESPACE}
")
file(WRITE "${OUTPUT}" "${text}")
