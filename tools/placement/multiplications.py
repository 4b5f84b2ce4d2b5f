#!/usr/bin/env python3
"""How long matrix multiplications of PyTorch take beside CTAs that hold SMs for a while, and when CTAs get in beside them.

    nvcc -std=c++20 -O2 -arch=sm_90 -cudart static -shared -Xcompiler -fPIC -o libhold.so hold.cu
    python3 multiplications.py multiplications.jsonl REPEATS

One GPU of compute capability 9.0, PyTorch. Writes a line of JSON for each repetition, for summarise.py.
"""

import ctypes
import json
import sys
import tempfile
from pathlib import Path

import torch

STAY_WORDS = 3  # from, to, SM: blocks.cuh's Stay
GATE_US = 200  # lets the host issue a scene before any of it runs
BEFORE_US = 5  # of the delay in front of a kernel whose end says when that began


class Scene:
    """CTAs on one stream and a multiplication on another, and when they ran."""

    def __init__(self):
        self.library = ctypes.CDLL(str(Path(__file__).with_name("libhold.so")))
        self.library.hold.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.c_int, ctypes.c_double, ctypes.c_void_p]
        self.stays = torch.zeros(64 * STAY_WORDS, dtype=torch.int64, device="cuda")
        self.kernel, self.ctas, self.gate = (torch.cuda.Stream() for _ in range(3))
        self.used = 0

    def hold(self, stream, blocks, us, collective=False):
        first = self.used
        self.used += blocks
        at = self.stays.data_ptr() + first * STAY_WORDS * 8
        status = self.library.hold(stream.cuda_stream, collective, blocks, us * 1000.0, at)
        if status != 0:
            raise RuntimeError(f"hold: CUDA error {status}")
        return slice(first, first + blocks)

    def play(self, multiply, ctas=0, hold_us=0.0, kernel_late_us=0.0, ctas_late_us=0.0):
        """Times in microseconds from the start of the multiplication."""
        self.used = 0
        torch.cuda.synchronize()
        self.hold(self.gate, 1, GATE_US)
        event = torch.cuda.Event()
        event.record(self.gate)
        self.kernel.wait_event(event)
        self.ctas.wait_event(event)
        if ctas:
            self.hold(self.ctas, 1, ctas_late_us + BEFORE_US)
            held = self.hold(self.ctas, ctas, hold_us, collective=True)
        with torch.cuda.stream(self.kernel):
            before = self.hold(self.kernel, 1, kernel_late_us + BEFORE_US)
            multiply()
            behind = self.hold(self.kernel, 1, 0)
        torch.cuda.synchronize()
        stays = self.stays.reshape(-1, STAY_WORDS).cpu()
        begin = int(stays[before][0, 1])
        result = {"took_us": (int(stays[behind][0, 0]) - begin) / 1000}
        if ctas:
            result["cta_starts_us"] = sorted(round((int(start) - begin) / 1000, 1) for start in stays[held][:, 0])
            result["cta_end_us"] = round((int(stays[held][:, 1].max()) - begin) / 1000, 1)
        return result


def multiplication(kind, m, n, k):
    """Of a linear layer: forward, the gradient of its input, or that of its weight."""
    x, weight = torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda")
    bias, gradient = torch.randn(n, device="cuda"), torch.randn(m, n, device="cuda")
    if kind == "forward":
        return lambda: torch.nn.functional.linear(x, weight, bias)
    return (lambda: gradient @ weight) if kind == "input" else (lambda: gradient.t() @ x)


def kernels_of(multiply):
    multiply()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        multiply()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    facts = ("grid", "block", "registers per thread", "shared memory")
    return [[e["name"][:100], *(e["args"][f] for f in facts), e["dur"]] for e in events if e.get("cat") == "kernel"]


def shapes():
    for k in (1600, 6400, 25600, 102400):
        yield "forward", 8192, 1024, k
    sizes = ((4096, 1024), (2048, 1024), (16384, 1024), (12288, 1024), (8192, 2048), (8192, 512), (6144, 1024), (6144, 768),
             (16384, 512), (4096, 512), (8192, 768))  # fmt: skip
    for k in (6400, 25600):
        for m, n in sizes:
            yield "forward", m, n, k
    yield "input", 8192, 512, 6400
    yield "input", 8192, 1024, 25600
    yield "weight", 8192, 1024, 25600
    yield "weight", 8192, 512, 6400


def main():
    out, repeats = open(sys.argv[1], "w"), int(sys.argv[2])
    torch.backends.cuda.matmul.allow_tf32 = False

    def say(scene, **what):
        out.write(json.dumps({"scene": scene, **what}) + "\n")

    device = torch.cuda.get_device_properties(0)
    say("device", name=device.name, sms=device.multi_processor_count)
    scene = Scene()
    for kind, m, n, k in shapes():
        name = f"{kind} {m}x{n}x{k}"
        torch.cuda.empty_cache()
        multiply = multiplication(kind, m, n, k)
        kernels = kernels_of(multiply)
        for _ in range(3):
            scene.play(multiply, ctas=32, hold_us=100)
        alone = sorted(scene.play(multiply)["took_us"] for _ in range(7))[3]
        say("kernel", shape=name, kernels=kernels, alone_us=alone)
        for ctas in (4, 8, 32):
            for part in (0.1, 0.25, 0.4, 0.55, 0.7, 0.77, 0.85, 0.95, 1.1, 4):
                for repeat in range(repeats):
                    took = scene.play(multiply, ctas, hold_us=part * alone + 30, kernel_late_us=30)
                    say("collective first", shape=name, ctas=ctas, held_part=part, repeat=repeat, **took)
        for ctas in (4, 32):
            for repeat in range(16):
                took = scene.play(multiply, ctas, hold_us=50, ctas_late_us=0.02 * alone)
                say("kernel first", shape=name, ctas=ctas, late_part=0.02, repeat=repeat, **took)


if __name__ == "__main__":
    main()
