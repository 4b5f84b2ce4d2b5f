#!/bin/sh
# run_collector.sh [options of run_collector.py]: the tests and benchmarks of `interlace record` on a machine with a GPU,
# over what build.sh laid out beside it. Results go to $OUT.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"
PYTHONUNBUFFERED=1 python3 "$here/run_collector.py" --tests "$here" --out "$out" "$@" 2>&1 | tee "$out/log.txt"
