# What is built is chosen, never guessed: each preset of CMakePresets.json sets these switches.
option(INTERLACE_TESTS "Build the tests and benchmarks (needs GoogleTest, RapidCheck, Google Benchmark)" ON)
option(INTERLACE_GUI "Build interlace-gui (needs Qt 6)" OFF)
option(INTERLACE_COLLECTOR "Build the collector, which records CUDA programs (needs the headers of CUDA 13)" OFF)
option(INTERLACE_ENGINE "Build the engine (needs LibTorch)" OFF)
option(INTERLACE_CUDA "With INTERLACE_ENGINE: its GPU backend too (needs a CUDA 13 toolkit, NCCL and a CUDA LibTorch)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
