#!/usr/bin/env python3
"""What the PyTorch profiler costs the host of a TorchRec pipeline, by annotated region: one GPU with next to nothing to do.

usage: host_cost.py SCHEDULE SHARDING PORT >> runs.jsonl     (fused:s=new row_wise 29700; schedules as record_set.py has them)

Steps are run without the profiler (three times sixty), under it (three times twelve; the first is not counted) and once more
without. Writes a line of JSON: microseconds a step of each, of all and by region, less what is in regions within it, and how
many operators and CUDA calls the profiler noted in each region of the loop's thread and meanwhile on others ("other:...").
Needs what record_set.py needs. summarise_host.py makes a table of many runs.
"""

import collections
import itertools
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import record_set
import torch
import torch.distributed as dist
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler import record_function

JOB = {"world": 1, "tables": 50, "wtables": 30, "dim": 32, "rows": 1000, "nb": 4, "bs": 256, "floats": 10, "pool": 2,
       "dao": 128, "oao": 256, "ohl": 4}  # fmt: skip
PLAIN_STEPS, PROFILED_STEPS, WARM_STEPS = 60, 12, 30
clock = time.perf_counter_ns
marks = None  # (0 or 1 for begin or end, name, time) while a stretch is timed


def mark_regions():
    enter, leave = record_function.__enter__, record_function.__exit__

    def entered(self):
        result = enter(self)
        if marks is not None:
            marks.append((0, self.name, clock()))
        return result

    def left(self, *exception):
        if marks is not None:
            marks.append((1, self.name, clock()))
        return leave(self, *exception)

    record_function.__enter__, record_function.__exit__ = entered, left


def timed(pipeline, loader, steps):
    """Microseconds a step, and by region."""
    global marks
    marks = []
    begin = clock()
    for _ in range(steps):
        marks.append((0, "step", clock()))
        pipeline.progress(loader)
        marks.append((1, "step", clock()))
    torch.cuda.synchronize()
    took = (clock() - begin) / steps / 1e3
    of_region, open_regions, before = collections.Counter(), [], None
    for ends, name, at in marks:
        if open_regions:
            of_region[open_regions[-1]] += (at - before) / steps / 1e3
        if ends:
            open_regions.pop()
        else:
            open_regions.append(name)
        before = at
    marks = None
    return took, dict(of_region)


def noted_events(profile):
    """By region: how many events of each kind, a step."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    regions = [e for e in events if e.get("cat") == "user_annotation"]
    loop = collections.Counter(e["tid"] for e in regions).most_common(1)[0][0]
    regions = sorted((e["ts"], -e["dur"], e["name"]) for e in regions if e["tid"] == loop)
    counts = collections.defaultdict(collections.Counter)
    for event in events:
        if event.get("cat") not in ("cpu_op", "cuda_runtime", "cuda_driver"):
            continue
        inside = (n for begin, less, n in regions if begin <= event["ts"] <= begin - less)
        region = collections.deque(inside, maxlen=1)
        kind = "cpu_op" if event["cat"] == "cpu_op" else event["name"]
        where = counts[region[0] if region else "step"]
        where[kind if event["tid"] == loop else f"other:{kind}"] += 1 / PROFILED_STEPS
    return counts


def main():
    schedule, sharding, port = sys.argv[1:]
    torch.manual_seed(1)
    tables, weighted = record_set.tables_of(JOB)
    batches = record_set.make_batches(JOB, tables, weighted)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK="0", LOCAL_RANK="0")
    os.environ.update(WORLD_SIZE="1", LOCAL_WORLD_SIZE="1")
    device = torch.device("cuda", 0)
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl")
    record_set.pin(batches)
    job = {**JOB, "sharding": sharding}
    model, optimizer = record_set.make_model(job, tables, weighted, dist.group.WORLD, device)
    model.train()
    loader = itertools.cycle(batches)
    pipeline = record_set.make_pipeline(schedule, model, optimizer, device)
    mark_regions()
    for _ in range(WARM_STEPS):
        pipeline.progress(loader)
    plain = [timed(pipeline, loader, PLAIN_STEPS) for _ in range(3)]
    profiled = []
    kinds = torch.profiler.ProfilerActivity
    for _ in range(3):
        syncs = _ExperimentalConfig(enable_cuda_sync_events=True)
        with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA], experimental_config=syncs) as profile:
            profiled.append(timed(pipeline, loader, PROFILED_STEPS))
    plain.append(timed(pipeline, loader, PLAIN_STEPS))
    result = {"schedule": schedule, "sharding": sharding, "plain_us": plain, "profiled_us": profiled[1:]}
    print(json.dumps({**result, "events": noted_events(profile)}), flush=True)
    os._exit(0)  # batches still in flight are nobody's concern


if __name__ == "__main__":
    main()
