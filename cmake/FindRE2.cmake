# RE2::RE2. Debian 12's libre2-dev brings no CMake package of its own.
include(InterlaceImportLibrary)

find_path(RE2_INCLUDE_DIR re2/re2.h)
find_library(RE2_LIBRARY re2)
interlace_import_library(RE2 RE2::RE2)
