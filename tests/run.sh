#!/usr/bin/env bash
# Takes a Debian 12 or Ubuntu 24.04 machine, bare but for apt, to a built and tested Interlace.
#
#   tests/run.sh          packages, build, all tests, tests under sanitizers, format, clang-tidy
#   tests/run.sh --quick  packages, build, all tests
#
# The engine is tested with its CPU backend; LibTorch comes from python3's torch, or by pip (.ci/install_torch.sh). Its GPU
# backend is built too, without a CUDA toolkit by nvcc 13.0 of NVIDIA's wheels (.ci/cuda_toolkit.sh), and tested where there
# is a GPU. What cannot be had skips tests, by name.
#
# Runs as root or with sudo, asks nothing, needs rights only while packages are missing. JOBS=n sets how many processes
# work at once. The last line is "N passed, N failed" over all that was checked; the status is 0 where none failed.
set -uo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source .ci/steps.sh

quick=false
case "${1:-}" in
  '') ;;
  --quick) quick=true ;;
  -h | --help) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) echo "tests/run.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
esac

# A compiler of templates takes up to 2 GB.
memory_gb=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || echo 4)
cores=$(nproc)
JOBS=${JOBS:-$((memory_gb / 2 < cores ? (memory_gb / 2 > 0 ? memory_gb / 2 : 1) : cores))}
export JOBS
export NINJA_STATUS='[%f/%t, %e s] '
mkdir -p build

# The lint rules are those of clang 14 on g++ 12's library.
lint_is_here() {
  command -v clang-format-14 clang-tidy-14 clang++-14 >/dev/null && [[ $(g++ -dumpversion) == 12* ]]
}

build_and_test() {  # PRESET
  step "configure $1" cmake --preset "$1" &&
    step "build $1" cmake --build --preset "$1" --parallel "$JOBS" &&
    ctest_step "tests of $1" "$1" --parallel "$JOBS"
}

# The collector is built and tested without a GPU, what it has of PyTorch where there is one. Its tests are labelled; the
# others are those of the desktop.
test_collector() {
  local headers torch
  if ! headers=$(.ci/cuda_headers.sh 2>&1); then
    skip "tests of gpu-node" "$headers"
    return
  fi
  if ! torch=$(.ci/install_torch.sh 2>&1); then
    skip "test_torch_ranges and test_torch_allocator of gpu-node" "${torch##*$'\n'}"
    torch=
  fi
  step "configure gpu-node" cmake --preset gpu-node "-DINTERLACE_TORCH_DIR=${torch##*$'\n'}" &&
    step "build the collector" cmake --build --preset gpu-node --parallel "$JOBS" --target interlace collector_tests &&
    ctest_step "tests of gpu-node" gpu-node --label-regex collector --parallel "$JOBS"
}

# The engine is built and tested with its CPU backend: no GPU and no CUDA toolkit are needed, LibTorch is.
test_engine() {
  local torch program fbgemm
  if ! torch=$(.ci/install_torch.sh 2>&1); then
    for program in $(sed -n 's/^interlace_add_test(\([a-z_]*\).*/\1/p' tests/unit/engine/CMakeLists.txt); do
      skip "$program of engine-cpu" "${torch##*$'\n'}"
    done
    return
  fi
  if fbgemm=$(.ci/install_fbgemm.sh 2>&1); then
    export INTERLACE_FBGEMM_DIR=${fbgemm##*$'\n'}
  else
    skip "Fbgemm.* of test_engine_fbgemm" "${fbgemm##*$'\n'}"
  fi
  step "configure engine-cpu" cmake --preset engine-cpu "-DINTERLACE_TORCH_DIR=${torch##*$'\n'}" &&
    step "build the engine" cmake --build --preset engine-cpu --parallel "$JOBS" --target engine_tests &&
    ctest_step "tests of engine-cpu" engine-cpu --parallel "$JOBS"
  test_gpu_backend "${torch##*$'\n'}"
}

# For one kind of GPU: the others take minutes more and find nothing else.
test_gpu_backend() {  # TORCH
  local toolkit tests='test_gpu_kernels and test_gpu_training of engine-cuda'
  if [[ ! -f $1/lib/libtorch_cuda.so ]]; then
    skip "$tests" "the torch in $1 is built without CUDA"
    return
  fi
  if ! toolkit=$(.ci/cuda_toolkit.sh 2>&1); then
    skip "$tests" "${toolkit##*$'\n'}"
    return
  fi
  toolkit=${toolkit##*$'\n'}
  step "configure engine-cuda" cmake --preset engine-cuda "-DINTERLACE_TORCH_DIR=$1" "-DCUDAToolkit_ROOT=$toolkit" \
    "-DCMAKE_CUDA_COMPILER=$toolkit/bin/nvcc" -DCMAKE_CUDA_ARCHITECTURES=90-real &&
    step "build the GPU backend" cmake --build --preset engine-cuda --parallel "$JOBS" --target gpu_tests || return
  if [[ -e /dev/nvidiactl ]]; then
    ctest_step "tests of engine-cuda" engine-cuda
  else
    skip "$tests" "they are built; this machine has no GPU"
  fi
}

groups=(build test)
$quick || groups+=('check?')
if step "install packages" .ci/install_packages.sh "${groups[@]}"; then
  # The presets compile much alike.
  ! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  build_and_test desktop
  test_collector
  test_engine
  if ! $quick; then
    build_and_test asan
    if lint_is_here; then
      step "format" .ci/format.sh --check
      step "clang-tidy" .ci/tidy.sh
    else
      skip "format and clang-tidy" "they need clang 14 and g++ 12, Debian 12's; found g++ $(g++ -dumpversion)"
    fi
  fi
fi
closing_lines
