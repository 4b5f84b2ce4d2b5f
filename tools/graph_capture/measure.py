#!/usr/bin/env python3
"""Measures what capturing stages of a training step into CUDA graphs changes.

measure.py OUT [MODEL...]: writes OUT/<model>.json, the step times of a dense model on one GPU without a profiler, eagerly
and with stages captured; OUT/<model>.<mode>.json.gz, recordings of the PyTorch profiler; and OUT/launches.json, what
launching a graph costs by its number of kernels.

Stages are annotated as TorchRec's TrainPipelineBase names them. Modes: eager; fwd_bwd, with forward (and loss) and
backward captured, a graph each; step, with the optimizer captured, too. All three copy batches into the same places.
"""
import gzip
import json
import pathlib
import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

# layers, width, batch: from bound by the host to bound by the device.
MODELS = {
    "l12_w256_b512": (12, 256, 512),
    "l24_w512_b1024": (24, 512, 1024),
    "l24_w1024_b4096": (24, 1024, 4096),
    "l24_w2048_b2048": (24, 2048, 2048),
    "l12_w4096_b4096": (12, 4096, 4096),
}
MODES = ("eager", "fwd_bwd", "step")
WARM_UP, STEPS, REPEATS, RECORDED = 20, 100, 5, 5
NODES = (1, 3, 10, 30, 100, 300, 1000)


class Layers(torch.nn.Module):
    """With its loss, so that a step is forward, backward and optimizer and nothing else."""

    def __init__(self, layers, width):
        super().__init__()
        blocks = []
        for _ in range(layers):
            blocks += [torch.nn.Linear(width, width), torch.nn.LayerNorm(width), torch.nn.ReLU()]
        self.blocks = torch.nn.Sequential(*blocks, torch.nn.Linear(width, 1))
        self.loss = torch.nn.BCEWithLogitsLoss()

    def forward(self, x, y):
        return self.loss(self.blocks(x).squeeze(1), y)


class Job:
    def __init__(self, layers, width, batch, mode):
        torch.manual_seed(0)
        self.model = Layers(layers, width).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4, capturable=True, foreach=True)
        self.batches = [(torch.randn(batch, width).pin_memory(), torch.rand(batch).round().pin_memory()) for _ in range(4)]
        self.inputs = tuple(t.cuda() for t in self.batches[0])
        self.copies = torch.cuda.Stream()
        self.number = 0
        self.graphs = {}
        if mode != "eager":
            self.capture(mode)

    def capture(self, mode):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.optimizer.zero_grad(set_to_none=True)
                self.model(*self.inputs).backward()
                self.optimizer.step()
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad(set_to_none=True)
        forward, backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(forward):
            loss = self.model(*self.inputs)
        with torch.cuda.graph(backward, pool=forward.pool()):
            loss.backward()
        self.graphs = {"forward": forward, "backward": backward}
        if mode == "step":
            self.graphs["optimizer"] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graphs["optimizer"], pool=forward.pool()):
                self.optimizer.step()

    def step(self):
        i = self.number
        self.number += 1
        main = torch.cuda.current_stream()
        with record_function(f"## copy_batch_to_gpu {i} ##"):
            self.copies.wait_stream(main)  # the places are free once the step before is done with them
            with torch.cuda.stream(self.copies):
                for place, data in zip(self.inputs, self.batches[i % 4]):
                    place.copy_(data, non_blocking=True)
        with record_function("## wait_for_batch ##"):
            main.wait_stream(self.copies)
        if not self.graphs:  # captured, each run writes the gradients anew
            with record_function("## zero_grad ##"):
                self.optimizer.zero_grad(set_to_none=True)
        with record_function(f"## forward {i} ##"):
            if self.graphs:
                self.graphs["forward"].replay()
            else:
                loss = self.model(*self.inputs)
        with record_function(f"## backward {i} ##"):
            if self.graphs:
                self.graphs["backward"].replay()
            else:
                loss.backward()
        with record_function(f"## optimizer {i} ##"):
            if "optimizer" in self.graphs:
                self.graphs["optimizer"].replay()
            else:
                self.optimizer.step()


def seconds_a_step(job):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        job.step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / STEPS


def record(job, path, unrecorded_s):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        with record_function(f"unrecorded steps: {STEPS} in {round(1e9 * STEPS * unrecorded_s)} ns"):
            pass
        for _ in range(RECORDED):
            job.step()
        torch.cuda.synchronize()
    plain = path.with_suffix("")
    profiler.export_chrome_trace(str(plain))
    path.write_bytes(gzip.compress(plain.read_bytes(), 9))
    plain.unlink()


def launches():
    """Host time of a replay that finds the device idle, and device time a node, by the number of nodes."""
    small = torch.zeros(1024, device="cuda")
    large = torch.zeros(1 << 22, device="cuda")
    rows = []
    for nodes in NODES:
        row = {"nodes": nodes}
        for name, tensor in (("small", small), ("large", large)):
            graph = torch.cuda.CUDAGraph()
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                tensor.add_(1)
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                for _ in range(nodes):
                    tensor.add_(1)

            def eager():
                for _ in range(nodes):
                    tensor.add_(1)

            for kind, run in (("graph", graph.replay), ("eager", eager)):
                host, device = [], []
                for _ in range(50):
                    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    torch.cuda.synchronize()
                    before.record()
                    start = time.perf_counter()
                    run()
                    host.append(time.perf_counter() - start)
                    after.record()
                    torch.cuda.synchronize()
                    device.append(before.elapsed_time(after))
                row[f"{name}_{kind}_host_us"] = round(1e6 * statistics.median(host), 3)
                row[f"{name}_{kind}_device_us"] = round(1e3 * statistics.median(device), 3)
        rows.append(row)
        print(row, flush=True)
    return rows


def measure(name, out):
    layers, width, batch = MODELS[name]
    jobs = {mode: Job(layers, width, batch, mode) for mode in MODES}
    for job in jobs.values():
        for _ in range(WARM_UP):
            job.step()
    times = {mode: [] for mode in MODES}
    for repeat in range(REPEATS):
        for k in range(len(MODES)):
            mode = MODES[(repeat + k) % len(MODES)]
            times[mode].append(seconds_a_step(jobs[mode]))
    for mode, job in jobs.items():
        record(job, out / f"{name}.{mode}.json.gz", statistics.median(times[mode]))
    milliseconds = {mode: [round(1e3 * t, 4) for t in times[mode]] for mode in MODES}
    result = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "layers": layers,
        "width": width,
        "batch": batch,
        "step_ms": {mode: {"median": statistics.median(t), "all": t} for mode, t in milliseconds.items()},
    }
    (out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(name, {mode: statistics.median(t) for mode, t in milliseconds.items()}, flush=True)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    (out / "launches.json").write_text(json.dumps(launches(), indent=1) + "\n")
    for name in sys.argv[2:] or MODELS:
        measure(name, out)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
