#!/usr/bin/env bash
# install_fbgemm.sh: prints, as its last line, the folder of FBGEMM's operators for CPUs that fit the torch of
# install_torch.sh: INTERLACE_FBGEMM_DIR where set; else one that pip puts into build/fbgemm (the package fbgemm-gpu-cpu,
# 6 MB). Status 1, and the reason as the last line, where there is none to be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder="$PWD/build/fbgemm"

if [[ -n ${INTERLACE_FBGEMM_DIR:-} ]]; then
  echo "$INTERLACE_FBGEMM_DIR"
  exit 0
fi
if [[ ! -f $folder/fbgemm_gpu/fbgemm_gpu_py.so ]]; then
  rm -rf "$folder"
  log=$(python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --root-user-action ignore \
          --target "$folder" fbgemm-gpu-cpu==1.6.0 2>&1 </dev/null) || {
    echo "FBGEMM can be neither found nor fetched: ${log##*$'\n'}" >&2
    exit 1
  }
fi
echo "$folder/fbgemm_gpu"
