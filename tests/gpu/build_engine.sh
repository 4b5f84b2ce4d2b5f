#!/bin/sh
# build_engine.sh [FOLDER]: lays the engine out in a folder (build/gpu_engine) that can be carried to a machine with GPUs
# and a torch of the version it was built with: in bin/ the programs and GPU tests, in lib/ the collector and system
# libraries that another machine may lack, and with_torch.sh, which starts any of them. The builds engine-cuda and
# gpu-node have to be there, the latter configured with INTERLACE_TORCH_DIR (INTERLACE_BUILD names another folder of
# builds).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
builds=${INTERLACE_BUILD:-$root/build}
out=${1:-$root/build/gpu_engine}

if [ -e "$out/bin" ] && [ ! -e "$out/bin/interlace-engine" ]; then
  echo "build_engine.sh: there is a folder bin in $out that is none of its own" >&2
  exit 2
fi
rm -rf "$out/bin" "$out/lib"
mkdir -p "$out/bin" "$out/lib"
for program in interlace interlace-engine interlace-calibrate test_gpu_kernels test_gpu_training; do
  strip -o "$out/bin/$program" "$builds/engine-cuda/bin/$program"
done
strip -o "$out/bin/interlace-record" "$builds/gpu-node/bin/interlace-record"
for library in libinterlace_collector.so libinterlace_torch_allocator.so libinterlace_torch_ranges.so; do
  strip -o "$out/lib/$library" "$builds/gpu-node/lib/$library"
done
for library in $(ldd "$out"/bin/* "$out/lib/libinterlace_collector.so" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u |
  grep -E 'libzstd|libdeflate|libfmt|libre2|libsimdjson|libtbb|libspdlog|libsqlite3'); do
  cp -L "$library" "$out/lib/"
done
cp "$here/with_torch.sh" "$out/"
du -sh "$out"
