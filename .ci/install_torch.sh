#!/usr/bin/env bash
# install_torch.sh: prints, as its last line, the folder of a Python package torch with which the engine can be built for
# CPUs: INTERLACE_TORCH_DIR where set; else python3's own, where it loads; else one that pip puts into build/torch.
# Status 1, and the reason as the last line, where there is none to be had.
#
# Of what torch depends on, only the two libraries that a CUDA build's libtorch_cpu.so loads are installed, and none for a
# build without CUDA. pip takes such a one where its settings name an index that has it (PIP_EXTRA_INDEX_URL): a version
# with "+cpu" ranks above the same version without. The libtorch.so of a CUDA build names the rest of CUDA only; in
# build/torch one that names the CPU's libraries takes its place, so that FBGEMM's, which ask for it, load.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder="$PWD/build/torch"

missing_of() { ldd "$1/lib/${2:-libtorch_cpu.so}" 2>/dev/null | grep 'not found' || true; }
usable() { [[ -f $1/lib/libtorch_cpu.so && -z $(missing_of "$1") ]]; }
give_up() {
  echo "$1" >&2
  exit 1
}

if [[ -n ${INTERLACE_TORCH_DIR:-} ]]; then
  usable "$INTERLACE_TORCH_DIR" || give_up "INTERLACE_TORCH_DIR=$INTERLACE_TORCH_DIR holds no torch that loads"
  echo "$INTERLACE_TORCH_DIR"
  exit 0
fi
# libtorch.so holds no code: others ask for it to get what it names.
name_cpu_libraries() {
  local lib="$folder/torch/lib"
  [[ -n $(missing_of "$folder/torch" libtorch.so) ]] || return 0
  "${CXX:-c++}" -shared -o "$lib/libtorch.so.new" -x c++ /dev/null -x none -Wl,-soname,libtorch.so \
    -Wl,-rpath,'$ORIGIN' -Wl,--no-as-needed "$lib/libtorch_cpu.so" "$lib/libc10.so" -Wl,--allow-shlib-undefined &&
    mv "$lib/libtorch.so.new" "$lib/libtorch.so"
}
own=$(python3 -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' \
  2>/dev/null || true)
for torch in "$own" "$folder/torch"; do
  usable "$torch" || continue
  [[ $torch != "$folder/torch" ]] || name_cpu_libraries
  echo "$torch"
  exit 0
done

pip_install() {
  local log
  log=$(python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --root-user-action ignore \
          --target "$folder" "$@" 2>&1 </dev/null) || give_up "LibTorch can be neither found nor fetched: ${log##*$'\n'}"
}
rm -rf "$folder"
mkdir -p build
pip_install torch==2.11.0
[[ -z $(missing_of "$folder/torch") ]] || pip_install nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
usable "$folder/torch" || give_up "the torch of pip does not load: $(missing_of "$folder/torch" | tr -s '\t\n' ' ')"
name_cpu_libraries
echo "$folder/torch"
