# Every package that is not ours, found in one place. A missing one stops the configuration with the Debian package to
# install and, for a part that can be left out, the switch that does so.
include(FeatureSummary)

# No versions are asked for: Debian 12's are the oldest that count, and some packages call no newer one compatible.
#
# interlace_require(NAME PACKAGE debian-package PURPOSE text [SWITCH option] [FIND find_package arguments...])
macro(interlace_require name)
  cmake_parse_arguments(require "" "PACKAGE;PURPOSE;SWITCH" "FIND" ${ARGN})
  find_package(${name} ${require_FIND} QUIET)
  set_package_properties(${name} PROPERTIES PURPOSE "${require_PURPOSE}")
  if(NOT ${name}_FOUND)
    set(advice "apt-get install ${require_PACKAGE}")
    if(DEFINED require_SWITCH)
      string(APPEND advice ", or leave that part out with -D${require_SWITCH}=OFF")
    endif()
    message(FATAL_ERROR "${name} is missing (${require_PURPOSE}): ${advice}. "
                        ".ci/packages.txt lists all packages; tests/run.sh and samples/demo.sh install them.")
  endif()
endmacro()

interlace_require(Threads PACKAGE g++ PURPOSE "parallel work")
interlace_require(Boost PACKAGE libboost-graph-dev PURPOSE "dependency graph" FIND CONFIG)
interlace_require(nlohmann_json PACKAGE nlohmann-json3-dev PURPOSE "schedules, edits, reports")
interlace_require(simdjson PACKAGE libsimdjson-dev PURPOSE "profiler JSON")
interlace_require(CLI11 PACKAGE libcli11-dev PURPOSE "command line")
interlace_require(fmt PACKAGE libfmt-dev PURPOSE "formatted text")
interlace_require(spdlog PACKAGE libspdlog-dev PURPOSE "progress and log")
interlace_require(RE2 PACKAGE libre2-dev PURPOSE "regular expressions of users")
interlace_require(zstd PACKAGE libzstd-dev PURPOSE ".ilt compression")
if(INTERLACE_COLLECTOR)
  # No Debian package has it; tests/run.sh fetches the headers.
  find_package(CUPTI 130001 QUIET)
  set_package_properties(CUPTI PROPERTIES PURPOSE "recording CUDA programs")
  if(NOT CUPTI_FOUND)
    message(FATAL_ERROR "The headers of CUPTI (CUDA 13.0 update 1 or newer) are missing: install a CUDA toolkit and "
                        "name it with CUDA_HOME, or leave the collector out with -DINTERLACE_COLLECTOR=OFF. "
                        ".ci/cuda_headers.sh fetches the headers alone.")
  endif()
endif()
interlace_require(Libdeflate PACKAGE libdeflate-dev PURPOSE ".gz files")
interlace_require(TBB PACKAGE libtbb-dev PURPOSE "parallel reading and sweeps")
interlace_require(SQLite3 PACKAGE libsqlite3-dev PURPOSE "exports of Nsight Systems")
if(INTERLACE_GUI)
  interlace_require(Qt6 PACKAGE qt6-base-dev PURPOSE "the GUI" SWITCH INTERLACE_GUI FIND COMPONENTS Core Gui Widgets)
  interlace_require(Qt6Svg PACKAGE qt6-svg-dev PURPOSE "pictures as SVG" SWITCH INTERLACE_GUI)
endif()
if(INTERLACE_GUI AND INTERLACE_TESTS)
  find_package(Qt6 COMPONENTS Test REQUIRED QUIET)  # comes with qt6-base-dev
endif()
if(INTERLACE_TESTS)
  interlace_require(GTest PACKAGE libgtest-dev PURPOSE "unit tests" SWITCH INTERLACE_TESTS)
  interlace_require(rapidcheck PACKAGE librapidcheck-dev PURPOSE "property tests" SWITCH INTERLACE_TESTS)
  interlace_require(benchmark PACKAGE libbenchmark-dev PURPOSE "benchmarks" SWITCH INTERLACE_TESTS)
  interlace_require(Python3 PACKAGE python3 PURPOSE "architecture tests" SWITCH INTERLACE_TESTS FIND COMPONENTS Interpreter)
endif()
if(INTERLACE_ENGINE)
  find_package(LibTorch 2.6 QUIET)
  set_package_properties(LibTorch PROPERTIES PURPOSE "dense model of the engine")
  if(NOT LibTorch_FOUND OR LibTorch_MISSING_AT_LOAD)
    list(JOIN LibTorch_MISSING_AT_LOAD ", " missing)
    message(FATAL_ERROR "LibTorch is missing, older than 2.6 or cannot be loaded (found: '${LibTorch_CPU_LIBRARY}', "
                        "version '${LibTorch_VERSION}', missing beside it: '${missing}'). Run .ci/install_torch.sh, or "
                        "give a Python's torch with -DINTERLACE_TORCH_DIR=.../site-packages/torch, or leave the engine "
                        "out with -DINTERLACE_ENGINE=OFF.")
  endif()
  if(INTERLACE_CUDA)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")  # CMake 3.25 asks the compiler no further than 17
    endif()
    find_package(CUDAToolkit 13 REQUIRED QUIET)
    find_package(NCCL REQUIRED QUIET)
    set_package_properties(NCCL PROPERTIES PURPOSE "collectives of the engine on GPUs")
    if(NOT TARGET LibTorch::cuda)
      message(FATAL_ERROR "The torch in ${INTERLACE_TORCH_DIR} is built without CUDA: give another one with "
                          "-DINTERLACE_TORCH_DIR=..., or leave the GPU backend out with -DINTERLACE_CUDA=OFF.")
    endif()
  endif()
endif()

feature_summary(WHAT PACKAGES_FOUND INCLUDE_QUIET_PACKAGES DESCRIPTION "Interlace is built with:")
