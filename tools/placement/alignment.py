#!/usr/bin/env python3
"""How long an exchange between two GPUs takes whose parts begin at other than multiples of sixteen bytes.

usage: alignment.py OUT.jsonl [--repeats 20]

NCCL moves sixteen bytes at once where a part begins at a multiple of that on both sides. What an all-to-all of uneven
parts sends to the second rank begins where the part of the first one ends. Each line is one case: `one` is by how many
bytes the part that the first rank sends to and gets from the second is off (its own begins at the start of the
buffer), `own` by how many the part is that the second rank keeps (what it sends begins at the start). `ms` are the
kernels' times on the two ranks, from the later start to the later end, by CUPTI, each of a repeat.

Needs two GPUs and PyTorch. How the GPUs exchange data is NCCL's choice: run it with NCCL_MAX_NCHANNELS and
NCCL_P2P_DISABLE as wanted; a line says what was set.
"""

import argparse
import json
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

MEBIBYTE = 1 << 20
SIZES = tuple(size * MEBIBYTE for size in (2, 8, 32, 128, 320))  # bytes of a rank's buffer
CASES = ((torch.int64, 0, 0), (torch.int64, 0, 8), (torch.int64, 8, 0), (torch.int64, 8, 8))
CASES += ((torch.float32, 0, 0), (torch.float32, 0, 4), (torch.float32, 4, 0), (torch.float32, 4, 4), (torch.float32, 8, 0))


def splits(rank, half, off_one, off_own):
    """Elements that a rank sends to each, and gets from each."""
    sent = [[half + off_one, half - off_one], [half + off_own, half - off_own]]
    return sent[rank], [sent[0][rank], sent[1][rank]]


def exchange_times(rank, size, case, repeats):
    kind, one, own = case
    half = size // 2 // kind.itemsize
    sent, got = splits(rank, half, one // kind.itemsize, own // kind.itemsize)
    source = torch.zeros(sum(sent), dtype=kind, device=rank)
    target = torch.zeros(sum(got), dtype=kind, device=rank)
    activities = [torch.profiler.ProfilerActivity.CUDA]
    for _ in range(3):
        dist.all_to_all_single(target, source, got, sent)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(repeats):
            dist.all_to_all_single(target, source, got, sent)
        torch.cuda.synchronize()
    kernels = [e for e in profile.profiler.kineto_results.events() if "ncclDevKernel" in e.name()]
    return sorted((e.start_ns(), e.start_ns() + e.duration_ns()) for e in kernels)


def run(rank, out, repeats):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    dist.init_process_group("cpu:gloo,cuda:nccl", rank=rank, world_size=2)
    told = {name: os.environ.get(name) for name in ("NCCL_MAX_NCHANNELS", "NCCL_P2P_DISABLE")}
    for size in SIZES:
        for case in CASES:
            times = exchange_times(rank, size, case, repeats)
            of_both = [None, None]
            dist.all_gather_object(of_both, times)
            if rank:
                continue
            both = zip(*of_both, strict=True)
            spans = [(max(e for _, e in pair) - max(s for s, _ in pair)) / 1e6 for pair in both]
            line = {**told, "bytes": size, "dtype": str(case[0]), "one": case[1], "own": case[2], "ms": spans}
            with open(out, "a") as file:
                file.write(json.dumps(line) + "\n")
    dist.barrier()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--repeats", type=int, default=20)
    asked = parser.parse_args()
    multiprocessing.spawn(run, (asked.out, asked.repeats), nprocs=2)


if __name__ == "__main__":
    main()
