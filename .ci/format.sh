#!/usr/bin/env bash
# format.sh: brings every C++ file to .clang-format. format.sh --check: lists those that differ, status 1 where any does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t folders < <(find simulator engine cupti_collector gui tests tools -maxdepth 0 2>/dev/null)
mapfile -t files < <(find "${folders[@]}" -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' | sort)
if [[ ${1:-} != --check ]]; then
  clang-format-14 -i "${files[@]}"
  exit 0
fi
status=0
for file in "${files[@]}"; do
  clang-format-14 --dry-run -Werror "$file" 2>/dev/null || { echo "  $file is not formatted: run .ci/format.sh"; status=1; }
done
exit "$status"
