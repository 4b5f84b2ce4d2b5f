"""Uses PyTorch's caching allocator and tells what it says of itself: torch_memory.py [--steps N] [--history FILE].

A training loop with copies on a side stream and record_stream, then, with --history, the allocator's own history and
state as JSON. With --loop N: the nanoseconds of one allocation and its free, over N.
"""
import argparse
import json
import time

import torch

import torch_mlp


def history(file, record_streams):
    torch.cuda.synchronize()
    allocated = torch.cuda.memory_allocated()
    reserved = torch.cuda.memory_reserved()
    snapshot = torch.cuda.memory._snapshot()
    events = [[one["action"], 0 if one["action"] == "oom" else one["addr"], one["size"], one["stream"]]
              for one in snapshot["device_traces"][torch.cuda.current_device()] if one["action"] != "snapshot"]
    blocks = []
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            blocks.append([address, block["size"], block["state"]])
            address += block["size"]
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"events": events, "blocks": blocks, "allocated": allocated, "reserved": reserved,
                   "record_streams": record_streams, "settings": snapshot.get("allocator_settings", {})}, out)


def loop(count):
    torch.empty(1000, device="cuda")
    torch.cuda.synchronize()
    best = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count // 5):
            torch.empty(1000, device="cuda")
        best.append((time.perf_counter() - begin) / (count // 5) * 1e9)
    print(json.dumps({"ns_alloc_and_free": min(best), "all": best}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--history")
    parser.add_argument("--loop", type=int, default=0)
    args = parser.parse_args()
    if args.loop:
        loop(args.loop)
        return
    if args.history:
        torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python", context=None)
    device = torch.device("cuda", 0)
    step = torch_mlp.make_step(device)
    torch_mlp.run_steps(step, args.steps)
    kept = [torch.empty(size, device=device) for size in (1, 700, 300_000, 2_000_000, 9_000_000)]
    del kept[1], kept[2]
    try:
        kept.append(torch.empty(1 << 45, dtype=torch.uint8, device=device))
    except torch.cuda.OutOfMemoryError:
        pass
    torch.cuda.empty_cache()
    if args.history:
        history(args.history, 2 * args.steps)
    print(json.dumps({"steps": args.steps}), flush=True)


if __name__ == "__main__":
    main()
