#!/bin/sh
# with_torch.sh PROGRAM [ARGUMENT...]: runs a program of bin/ beside this file with the libraries of python3's torch, and
# those of CUDA and NCCL that its package brought.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages=$(python3 -c 'import importlib.util as u, os; print(os.path.dirname(u.find_spec("torch").submodule_search_locations[0]))')
libraries=$packages/torch/lib
for folder in "$packages"/nvidia/*/lib; do
  libraries=$libraries:$folder
done
export LD_LIBRARY_PATH="$here/lib:$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PATH="$here/bin:$PATH"
# By its path: tests that start themselves again find themselves by it.
program=$(command -v "$1")
shift
exec "$program" "$@"
