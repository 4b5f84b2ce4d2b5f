#!/usr/bin/env python3
"""What a stretch of PyTorch calls takes behind a blocking copy that waited, without the profiler and under it.

usage: host_wait.py > waits.txt

One GPU, PyTorch. A line for each wait: milliseconds waited, and microseconds from the copy's return to the 1st, 2nd, 3rd,
4th, 6th, 9th and 12th repetition of the stretch, medians of 35. "slept": behind a sleep of the host instead.
"""

import statistics
import time

import torch

SHOWN = (0, 1, 2, 3, 5, 8, 11)
CYCLES_A_MS = 1.7e6
clock = time.perf_counter_ns


class Stretch:
    def __init__(self):
        self.x = torch.ones(4096, device="cuda")
        self.side = torch.cuda.Stream()
        self.linear = torch.nn.Linear(64, 64).cuda()
        self.input = torch.ones(64, 64, device="cuda")

    def run(self):
        marks = []
        for i in range(12):
            a = (self.x + i).view(64, 64)
            both = torch.cat([a, a])
            both.record_stream(self.side)
            with torch.cuda.stream(self.side):
                torch.empty_like(both).copy_(both, non_blocking=True)
            self.linear(self.input)
            marks.append(clock())
        return marks


def behind_copy(stretch, value, ms):
    torch.cuda.synchronize()
    if ms:
        torch.cuda._sleep(int(ms * CYCLES_A_MS))
    begin = clock()
    value.tolist()
    back = clock()
    return (back - begin) / 1e6, [(mark - back) / 1e3 for mark in stretch.run()]


def behind_sleep(stretch, ms):
    torch.cuda.synchronize()
    time.sleep(ms / 1e3)
    back = clock()
    return ms, [(mark - back) / 1e3 for mark in stretch.run()]


def show(label, trials):
    waited = statistics.median(w for w, _ in trials)
    shown = (statistics.median(marks[i] for _, marks in trials) for i in SHOWN)
    print(f"{label} {waited:6.2f} ms ", " ".join(f"{us:6.0f}" for us in shown), flush=True)


def main():
    stretch, value = Stretch(), torch.arange(16, device="cuda")
    for _ in range(30):
        behind_copy(stretch, value, 1)

    def show_all(label):
        for ms in (0, 0.3, 1, 3, 6, 12, 25, 50):
            show(f"{label:<9} waited", [behind_copy(stretch, value, ms) for _ in range(40)][5:])

    show_all("plain")
    for ms in (1, 10, 40):
        show("plain     slept ", [behind_sleep(stretch, ms) for _ in range(30)])
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]):
        behind_copy(stretch, value, 1)  # what only a first profile costs
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]):
        show_all("profiled")


if __name__ == "__main__":
    main()
