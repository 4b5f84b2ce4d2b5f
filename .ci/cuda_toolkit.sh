#!/usr/bin/env bash
# cuda_toolkit.sh: prints, as its last line, the folder of a toolkit of CUDA 13 that builds the engine's GPU backend:
# CUDA_HOME or /usr/local/cuda where nvcc 13 is in it and NCCL beside it; else one that pip puts into build/cuda_toolkit
# (nvcc 13.0 and headers, of NVIDIA's Python wheels). Status 1, and the reason as the last line, where there is none to
# be had. No GPU and no driver are needed to build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder="$PWD/build/cuda_toolkit"
toolkit="$folder/nvidia/cu13"

for root in ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda; do
  [[ -f $root/include/nccl.h || -f /usr/include/nccl.h ]] || continue
  ! "$root/bin/nvcc" --version 2>/dev/null | grep -q 'release 13' || { echo "$root"; exit 0; }
done
if [[ ! -e $toolkit/lib/libnccl.so ]]; then
  rm -rf "$folder"
  mkdir -p build
  log=$(python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --root-user-action ignore \
          --target "$folder" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
          nvidia-cuda-cccl==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-nvtx==13.0.85 nvidia-nccl-cu13==2.28.9 \
          2>&1 </dev/null) || {
    echo "nvcc 13.0 can be neither found nor fetched: ${log##*$'\n'}" >&2
    exit 1
  }
  # As a toolkit lays them out: the wheels have no names for the linker.
  ln -s lib "$toolkit/lib64"
  ln -s libcudart.so.13 "$toolkit/lib/libcudart.so"
  cp "$folder"/nvidia/nccl/include/*.h "$toolkit/include/"
  ln -s ../../nccl/lib/libnccl.so.2 "$toolkit/lib/libnccl.so"
fi
echo "$toolkit"
