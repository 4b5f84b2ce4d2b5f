# Libdeflate::Libdeflate. Debian 12's libdeflate-dev brings no CMake package of its own.
include(InterlaceImportLibrary)

find_path(Libdeflate_INCLUDE_DIR libdeflate.h)
find_library(Libdeflate_LIBRARY deflate)
interlace_import_library(Libdeflate Libdeflate::Libdeflate)
