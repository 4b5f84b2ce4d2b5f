#!/usr/bin/env python3
"""first_use.py EXTRA: what a waiting stream costs PyTorch's main one, where EXTRA streams ran a kernel before it did.

Microseconds a kernel of a chain of 200 on the main stream: by itself, while another stream waits, while a copy from the
host runs, and while the other stream waits for that copy, as data_dist does in TorchRec's pipelines. Prints a line of
JSON; each number of streams takes a process of its own.
"""

import json
import sys

import torch

KERNELS = 200
REPEATS = 9


def main():
    extra = int(sys.argv[1])
    x = torch.ones(1 << 12, device="cuda")
    for _ in range(10):
        x.add_(1)
    torch.cuda.synchronize()
    memcpy = torch.cuda.Stream(priority=-1)
    for _ in range(extra):
        with torch.cuda.stream(torch.cuda.Stream(priority=-1)):
            torch.ones(8, device="cuda").add_(1)
    torch.cuda.synchronize()
    data_dist = torch.cuda.Stream(priority=-1)
    on_host = torch.empty(256 << 20, dtype=torch.uint8).pin_memory()
    on_device = torch.empty_like(on_host, device="cuda")
    y = torch.ones(1 << 12, device="cuda")

    def chain(waits, copies):
        torch.cuda.synchronize()
        torch.cuda._sleep(4_000_000)  # until all is queued
        with torch.cuda.stream(memcpy):
            if copies:
                on_device.copy_(on_host, non_blocking=True)
            else:
                torch.cuda._sleep(12_000_000)
        if waits:
            data_dist.wait_stream(memcpy)
            with torch.cuda.stream(data_dist):
                y.add_(1)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(KERNELS):
            x.add_(1)
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3 / KERNELS

    line = {"extra": extra}
    for name, waits, copies in (("alone", 0, 0), ("waits", 1, 0), ("copy", 0, 1), ("waits for copy", 1, 1)):
        line[name] = round(sorted(chain(waits, copies) for _ in range(REPEATS))[REPEATS // 2], 2)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
