# One place for warnings: every target of ours links it privately.
add_library(interlace_warnings INTERFACE)
target_compile_options(interlace_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Werror
  # Every member of ours has a default initialiser, so designated initialisers may name a part of them.
  -Wno-missing-field-initializers)
