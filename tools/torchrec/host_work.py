#!/usr/bin/env python3
"""What the thread of the training loop does outside backward, schedule by schedule, in recordings of one job each.

usage: host_work.py SETS_DIR...

SETS_DIR holds a folder a job as record_set.py writes it. Host time a step, of the rank on which it is least: Python
between operators, operators by themselves, launches, queries of events (the allocator's) and other CUDA calls; waits
are left out, as are steps of other numbers of operators than most. Prints, a schedule a line, the mean over jobs in ms and
how many times sparse's that is (geometric mean, with its standard error).
"""

import bisect
import collections
import gzip
import json
import math
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

SCHEDULES = ("sparse", "sparse_inplace", "base", "fused_sdata_dist", "fused_snew", "semi")
PARTS = ("Python", "operators", "launches", "queries", "other calls")
WAITS = ("cudaEventSynchronize", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpyAsync")
LEAST_WAIT_US = 60  # shorter ones are calls like others


def end_of(event):
    return event["ts"] + event["dur"]


def part_of(call):
    if call["name"] == "cudaEventQuery":
        return "queries"
    return "launches" if call["name"].startswith(("cudaLaunch", "cuLaunch")) else "other calls"


def outermost(events):
    """Of events in order of their start, those within no other."""
    end = -math.inf
    for event in events:
        if event["ts"] >= end:
            end = end_of(event)
            yield event


def step(operators, calls):
    """us by part, between the end of a backward and the start of the next."""
    us = collections.Counter()
    waits = 0
    for call in calls:
        if call["name"] in WAITS and call["dur"] >= LEAST_WAIT_US:
            waits += call["dur"]
        else:
            us[part_of(call)] += call["dur"]
    covered = list(outermost(sorted(operators + calls, key=lambda e: (e["ts"], -e["dur"]))))
    busy = sum(event["dur"] for event in covered)
    us["operators"] = busy - waits - sum(us.values())
    us["Python"] = end_of(covered[-1]) - covered[0]["ts"] - busy
    return us


def work(path):
    """ms a step by part, medians over the steps of a recording."""
    with gzip.open(path) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X" and "dur" in e and "cat" in e]
    events.sort(key=lambda e: e["ts"])
    backward = [e for e in events if e["cat"] == "user_annotation" and e["name"].startswith("## backward")]
    on_loop = [e for e in events if e["tid"] == backward[0]["tid"]]
    kinds = [[e for e in on_loop if e["cat"] == kind] for kind in ("cpu_op", "cuda_runtime")]
    starts = [[e["ts"] for e in kind] for kind in kinds]
    steps = []
    for one, following in zip(backward, backward[1:]):
        span = [
            kind[bisect.bisect_left(at, end_of(one)) : bisect.bisect_left(at, following["ts"])]
            for kind, at in zip(kinds, starts)
        ]
        steps.append((len(span[0]), step(*span)))
    usual = statistics.mode(count for count, _ in steps)
    return {part: statistics.median(us[part] for count, us in steps if count == usual) / 1e3 for part in PARTS}


def least(ranks):
    return min(ranks, key=lambda parts: sum(parts.values()))


def ratio(values, to):
    logs = [math.log(value / other) for value, other in zip(values, to)]
    error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0.0
    return f"{math.exp(statistics.mean(logs)):.3f} +- {error:.3f}"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with ProcessPoolExecutor() as pool:
        for place in map(Path, sys.argv[1:]):
            jobs = sorted(f for f in place.iterdir() if all(any(f.glob(f"{s}.r*.json.gz")) for s in SCHEDULES))
            files = {(j, s): sorted(j.glob(f"{s}.r*.json.gz")) for j in jobs for s in SCHEDULES}
            found = {key: pool.map(work, paths) for key, paths in files.items()}
            found = {key: least(list(ranks)) for key, ranks in found.items()}
            print(f"{place.name}: {' '.join(job.name for job in jobs)}")
            print(" ".join([f"{'ms a step':<17}", *(f"{part:>11}" for part in PARTS), "        all", "  times sparse's"]))
            sparse = [sum(found[job, "sparse"].values()) for job in jobs]
            for schedule in SCHEDULES:
                means = [statistics.mean(found[job, schedule][part] for job in jobs) for part in PARTS]
                alls = [sum(found[job, schedule].values()) for job in jobs]
                cells = [f"{mean:11.2f}" for mean in (*means, sum(means))]
                print(" ".join([f"{schedule:<17}", *cells, f" {ratio(alls, sparse)}"]))


if __name__ == "__main__":
    main()
