# One place for warnings: every target of ours links it privately.
add_library(interlace_warnings INTERFACE)
set(warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  # Every member of ours has a default initialiser, so designated initialisers may name a part of them.
  -Wno-missing-field-initializers)
# What nvcc hands to the host compiler is no longer what was written.
target_compile_options(interlace_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

# Warnings are errors under the compilers of the reference toolchain (Debian 12). Newer ones warn about more, some of it
# wrongly, and must not keep anybody from building.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  target_compile_options(interlace_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()
