#!/usr/bin/env bash
# cuda_headers.sh: sees to it that the build finds the headers of CUDA 13 that the collector needs. Where no toolkit has
# them, they come out of two Python wheels into build/cuda_headers. Status 1, and a word on standard error, where they
# cannot be had. No GPU, driver or toolkit is needed to build the collector and to run its tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=build/cuda_headers

for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
  [[ -n $root ]] || continue
  for include in include extras/CUPTI/include targets/x86_64-linux/include; do
    if [[ -f $root/$include/cupti.h ]]; then
      echo "CUPTI's headers are those in $root"
      exit 0
    fi
  done
done
if [[ -f $folder/nvidia/cu13/include/cupti.h && -f $folder/nvidia/cu13/include/cuda.h ]]; then
  echo "CUPTI's headers are in $folder"
  exit 0
fi
mkdir -p build
if ! log=$(python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" \
             nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 2>&1); then
  echo "the headers of CUDA 13 can be neither found nor fetched: ${log##*$'\n'}" >&2
  exit 1
fi
echo "fetched CUPTI's headers into $folder"
