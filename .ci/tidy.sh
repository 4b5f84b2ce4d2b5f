#!/usr/bin/env bash
# tidy.sh [FILE...]: clang-tidy over the sources of simulator/ (or those named), as clang 14 compiles them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${JOBS:-$(nproc)}
# The build's launcher would stand in the compile commands, where clang-tidy takes it for the compiler.
env -u CMAKE_CXX_COMPILER_LAUNCHER cmake --preset tidy >build/tidy.log || { cat build/tidy.log; exit 1; }
files=("$@")
[[ ${#files[@]} -gt 0 ]] || mapfile -t files < <(find simulator -name '*.cpp' | sort)
echo "${#files[@]} files"
# On stderr clang-tidy counts the warnings of system headers that it does not show.
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$jobs" -I{} sh -c 'echo "  $1"; exec clang-tidy-14 --quiet -p build/tidy "$1"' sh {} 2>build/tidy.stderr ||
  { grep -E '^(Error|error)' build/tidy.stderr || true; exit 1; }
