#!/usr/bin/env bash
# Predicts, from one real recording of a TorchRec job on two H200 GPUs, what every other pipeline would do to it.
#
# Takes a Debian 12 or Ubuntu 24.04 machine, bare but for apt, to the end: installs what is missing (as root or with
# sudo), builds, predicts. Leaves the predicted traces and reports in out/demo. Arguments go to `interlace predict`.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf '\n== %s\n' "$*"; }
jobs=${JOBS:-$(nproc)}

say "packages"
.ci/install_packages.sh build test

say "build (minutes, the first time)"
! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
mkdir -p build
cmake --preset desktop >build/demo_configure.log || { cat build/demo_configure.log; exit 1; }
targets=(interlace)
[[ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]] || targets+=(interlace-gui)
NINJA_STATUS='[%f/%t, %e s] ' cmake --build --preset desktop --target "${targets[@]}" --parallel "$jobs"

traces=samples/traces/torchrec_c6
predict=(build/desktop/bin/interlace predict
  --from "$traces/sparse.r0.json.gz" --from "$traces/sparse.r1.json.gz"
  --schedule all --out out/demo "$@")
say "${predict[*]}"
"${predict[@]}"

memory=(build/desktop/bin/interlace predict --schedule torchrec/base torchrec/semi_sync --gpu-memory 16
  --from "$traces/sparse.mem.r0.json.gz" --memory-snapshot "$traces/sparse.mem.r0.snap.pickle"
  --from "$traces/sparse.mem.r1.json.gz" --memory-snapshot "$traces/sparse.mem.r1.snap.pickle")
say "with allocator events, memory too: ${memory[*]}"
"${memory[@]}"

check=(build/desktop/bin/interlace check "$traces"/fused_snew.mem.r{0,1}.json.gz "$traces"/fused_snew.mem.r{0,1}.snap.pickle)
say "what really ran: ${check[*]}"
"${check[@]}"

overwritten=(build/desktop/bin/interlace check samples/traces/torchrec_g1/fused_snew.mem.r0.ilt)
say "of another run, on a slower host, whose batches were overwritten: ${overwritten[*]}"
"${overwritten[@]}" || [[ $? == 1 ]]  # hazards found

say "left in out/demo"
ls -l out/demo
gui=build/desktop/bin/interlace-gui
if [[ -x $gui && -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]]; then
  say "opening the measured and the predicted timelines"
  "$gui" "$traces/sparse.r0.json.gz" "$traces/sparse.r1.json.gz" --schedule torchrec/base >/dev/null 2>&1 &
fi
