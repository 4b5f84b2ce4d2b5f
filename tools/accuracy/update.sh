#!/usr/bin/env bash
# Measures the accuracy anew and writes docs/benchmarks/accuracy, what it would say of the kept campaigns,
# docs/accuracy.md and its picture.
#
#   tools/accuracy/update.sh SETS_DIR [INTERLACE]
#
# SETS_DIR holds a folder a set (tools/accuracy/sets.py); INTERLACE is build/desktop/bin/interlace unless given. Takes
# about a minute of processor time; JOBS=n sets how many predictions run at once. UNSEEN=DIR names the folder of the
# jobs that the model never saw, which are then predicted anew too where their recordings are there; what was predicted
# of them first stays.
set -euo pipefail
[[ $# -ge 1 && $# -le 2 ]] || { sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sets=$(realpath -- "$1")
interlace=$(realpath -- "${2:-$root/build/desktop/bin/interlace}")
unseen=${UNSEEN:+$(realpath -- "$UNSEEN")}
cd "$root"
raw=docs/benchmarks/accuracy/torchrec_h200.json
[[ -x $interlace ]] || { echo "update.sh: no program $interlace; build it first" >&2; exit 2; }

keys_of() {  # RAW FIELD: none where it has no such field
  PYTHONPATH=tools/accuracy python3 -B -c 'import sys, raw_results; print(*raw_results.read(sys.argv[1]).get(sys.argv[2], {}))' "$@"
}

commit=$(git describe --always --tags --dirty)
mkdir -p "$(dirname "$raw")"
trap 'rm -f "$raw.new" docs/accuracy.md.new docs/pictures/accuracy.svg.new' EXIT
python3 -B tools/accuracy/run_accuracy.py "$interlace" "$sets" "$raw.new" --jobs "${JOBS:-2}" --commit "$commit"
mv "$raw.new" "$raw"
if [[ -n $unseen ]]; then
  for first in docs/benchmarks/accuracy/torchrec_h200_*.json.xz; do
    [[ $first != *_now.json.xz ]] || continue
    names=$(keys_of "$first" sets)
    with_memory=$(keys_of "$first" memory)
    # shellcheck disable=SC2086  # names of sets
    if ! (cd "$unseen" && ls -d $names) >/dev/null 2>&1; then
      echo "update.sh: $first stays as predicted before: not all of its recordings are in $unseen" >&2
      continue
    fi
    # shellcheck disable=SC2086  # names of sets
    python3 -B tools/accuracy/run_accuracy.py "$interlace" "$unseen" "${first%.json.xz}_now.json.xz" --jobs "${JOBS:-2}" \
      --commit "$commit" --sets $names --memory $with_memory
  done
fi
python3 -B tools/accuracy/replay_recordings.py "$interlace" docs/benchmarks/accuracy/replayed_recordings.json \
  campaigns=docs/benchmarks/campaigns "torchrec_h200=$sets" ${unseen:+"$(basename "$unseen")=$unseen"} --commit "$commit"
python3 -B tools/campaigns/repredict.py "$interlace"
python3 -B tools/accuracy/make_accuracy_md.py "$raw" >docs/accuracy.md.new
python3 -B tools/accuracy/picture.py "$raw" >docs/pictures/accuracy.svg.new
mv docs/accuracy.md.new docs/accuracy.md
mv docs/pictures/accuracy.svg.new docs/pictures/accuracy.svg
echo "wrote $raw, docs/accuracy.md and docs/pictures/accuracy.svg"
