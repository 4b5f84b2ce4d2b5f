#!/bin/sh
# build.sh [FOLDER]: lays the GPU tests and what they run out in a folder (build/gpu_tests) that can be carried to a
# machine with a GPU as it is: the programs of this folder, `interlace` with the collector, and the libraries that they
# need. The build gpu-node has to be there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
built=${INTERLACE_BUILD:-$root/build/gpu-node}
out=${1:-$root/build/gpu_tests}
cuda=${CUDA_HOME:-/usr/local/cuda}
nvcc="$cuda/bin/nvcc"
[ -x "$nvcc" ] || nvcc=$(command -v nvcc)

mkdir -p "$out/bin" "$out/lib"
for program in launch_loop missing_wait mixed_work ways_to_end; do
  "$nvcc" -O2 -std=c++17 -arch=sm_90 -cudart static -o "$out/bin/$program" "$here/$program.cu" -lpthread -ldl
done
# As C++: nvcc would put a CUDA runtime into it, which is not to be loaded before the program's.
g++ -x c++ -O2 -std=c++17 -shared -fPIC -I"$cuda/include" -I"$cuda/extras/CUPTI/include" -o "$out/lib/libraw_cupti.so" \
  "$here/raw_injection.cu" -x none -L"$(dirname "$(find -L "$cuda" -name libcupti.so | head -1)")" -lcupti -lpthread
for program in interlace interlace-record; do
  strip -o "$out/bin/$program" "$built/bin/$program"
done
for library in libinterlace_collector.so libinterlace_torch_allocator.so libinterlace_torch_ranges.so; do
  [ ! -e "$built/lib/$library" ] || strip -o "$out/lib/$library" "$built/lib/$library"
done
# Libraries of this system that another may lack.
for library in $(ldd "$built/bin/interlace" "$built/lib/libinterlace_collector.so" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' |
  sort -u | grep -E 'libzstd|libdeflate|libfmt|libre2|libsimdjson|libsqlite3|libtbb'); do
  cp -L "$library" "$out/lib/"
done
cp "$here"/*.py "$here"/*.sh "$out/"
du -sh "$out"
