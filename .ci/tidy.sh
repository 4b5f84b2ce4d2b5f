#!/usr/bin/env bash
# tidy.sh [FILE...]: clang-tidy over the sources of simulator/ (or those named), as clang 14 compiles them.
#
# Without names it checks the unity sources of the preset `tidy`: all sources of a library are one file there, so that the
# headers which they share are read once. Some checks look at the file given alone, not at what that includes, and have
# stand-ins: the architecture rule `forbidden` for misc-unused-using-decls, misc-unused-alias-decls and
# bugprone-suspicious-include (of which a unity source is nothing but a case), the preset `asan` for unused constants.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${JOBS:-$(nproc)}
folder=build/tidy
options=()
checks=--checks=-bugprone-suspicious-include
if [[ $# -gt 0 ]]; then
  folder=build/tidy_files
  options=(-B "$folder" -DCMAKE_UNITY_BUILD=OFF)
  checks=--checks=
fi
mkdir -p build
# The build's launcher would stand in the compile commands, where clang-tidy takes it for the compiler.
env -u CMAKE_CXX_COMPILER_LAUNCHER cmake --preset tidy "${options[@]}" >build/tidy.log || { cat build/tidy.log; exit 1; }
files=("$@")
if [[ $# -eq 0 ]]; then  # the largest first
  mapfile -t files < <(sed -n "s|^ *\"file\": \"\(.*/$folder/simulator/.*/Unity/unity_[0-9]*_cxx\.cxx\)\".*|\1|p" \
    "$folder/compile_commands.json" | xargs wc -l | sort -rn | sed -n 's|^ *[0-9]* \(/.*\)|\1|p')
  [[ ${#files[@]} -gt 0 ]] || { echo "no unity sources in $folder" >&2; exit 1; }
fi
echo "${#files[@]} files"
# On stderr clang-tidy counts the warnings of system headers that it does not show.
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$jobs" -I{} sh -c 'echo "  ${3#"$PWD/"}"; exec clang-tidy-14 --quiet -p "$1" "$2" "$3"' sh "$folder" "$checks" {} \
    2>build/tidy.stderr ||
  { grep -E '^(Error|error)' build/tidy.stderr || true; exit 1; }
