"""Collectives of known sizes, under torchrun: torch_collectives.py [--rounds N]. Rank 0 prints what one round has."""
import argparse
import json
import os

import torch
import torch.distributed as dist


def one_round(world, device):
    half = torch.ones(1_000_000, dtype=torch.bfloat16, device=device)
    floats = torch.ones(4096, device=device)
    dist.all_reduce(half)
    gathered = torch.empty(world * 4096, device=device)
    dist.all_gather_into_tensor(gathered, floats)
    part = torch.empty(4096 // world, device=device)
    dist.reduce_scatter_tensor(part, floats)
    dist.broadcast(floats, 0)
    longs = torch.ones(world * 1000, dtype=torch.int64, device=device)
    exchanged = torch.empty_like(longs)
    dist.all_to_all_single(exchanged, longs)
    uneven = [500 * (rank + 1) for rank in range(world)]
    mine = uneven[dist.get_rank()]
    sent = torch.ones(sum(uneven), device=device)
    got = torch.empty(world * mine, device=device)
    dist.all_to_all_single(got, sent, [mine] * world, uneven)
    # Of the first two collectives: where what they send begins, and where what they receive does.
    return [[half.data_ptr(), half.data_ptr()], [floats.data_ptr(), gathered.data_ptr()]]


def expected(world):
    uneven = [500 * (rank + 1) for rank in range(world)]
    return [["AllReduce", "BFloat16", 1_000_000, 1_000_000], ["AllGather", "Float", 4096, world * 4096],
            ["ReduceScatter", "Float", 4096, 4096 // world], ["Broadcast", "Float", 4096, 4096],
            ["AlltoAll", "Long", world * 1000, world * 1000], ["AlltoAll", "Float", sum(uneven), world * uneven[0]]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    for _ in range(args.rounds):
        torch.cuda.nvtx.range_push("step")
        buffers = one_round(dist.get_world_size(), device)
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    if dist.get_rank() == 0:
        print(json.dumps({"rounds": args.rounds, "round": expected(dist.get_world_size()), "buffers": buffers}), flush=True)
    dist.destroy_process_group()


main()
