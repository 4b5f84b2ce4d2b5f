"""A small training loop whose time goes into launches: torch_mlp.py [--steps N] [--profile WHAT] [--trace FILE].

Prints one line of JSON with the microseconds of a step. With --trace the timed steps stand between two sleep kernels,
so that they can be found again in a recording of the whole program.
"""
import argparse
import json
import os
import statistics
import time

import torch

SIZE = 256
BATCH = 128
LAYERS = 4


def make_step(device):
    torch.manual_seed(0)
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(SIZE, SIZE), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(SIZE, 10)).to(device)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[device.index])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False, fused=False)
    loss_of = torch.nn.CrossEntropyLoss()
    inputs = [torch.randn(BATCH, SIZE).pin_memory() for _ in range(4)]
    targets = [torch.randint(0, 10, (BATCH,)).pin_memory() for _ in range(4)]
    copies = torch.cuda.Stream()

    def step(number):
        with torch.profiler.record_function("## copy_batch_to_gpu ##"), torch.cuda.stream(copies):
            x = inputs[number % 4].to(device, non_blocking=True)
            y = targets[number % 4].to(device, non_blocking=True)
        torch.cuda.current_stream().wait_stream(copies)
        x.record_stream(torch.cuda.current_stream())
        y.record_stream(torch.cuda.current_stream())
        with torch.profiler.record_function("## forward ##"):
            loss = loss_of(model(x), y)
        with torch.profiler.record_function("## backward ##"):
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
        with torch.profiler.record_function("## optimizer ##"):
            optimizer.step()

    return step


def profiler_for(what):
    activities = [torch.profiler.ProfilerActivity.CUDA]
    if what == "kineto_cpu":
        activities.append(torch.profiler.ProfilerActivity.CPU)
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    return torch.profiler.profile(activities=activities, experimental_config=config)


def run_steps(step, count):
    times = []
    for number in range(count):
        begin = time.perf_counter()
        torch.cuda.nvtx.range_push("step")
        step(number)
        torch.cuda.nvtx.range_pop()
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    torch.cuda.synchronize()
    return times, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--warmup", type=int, default=50)
    parser.add_argument("--profile", choices=["none", "kineto", "kineto_cpu"], default="none")
    parser.add_argument("--bracket", action="store_true", help="put sleep kernels around the timed steps")
    parser.add_argument("--trace", help="where Kineto's trace goes")
    args = parser.parse_args()

    rank = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.distributed.init_process_group("nccl", device_id=device)
    step = make_step(device)
    run_steps(step, args.warmup)

    profiler = profiler_for(args.profile) if args.profile != "none" else None
    if profiler:
        profiler.start()
        run_steps(step, 5)
        torch.cuda.synchronize()
    if args.bracket:
        torch.cuda._sleep(1000)
    begin = time.perf_counter()
    times, _ = run_steps(step, args.steps)
    total = time.perf_counter() - begin
    if args.bracket:
        torch.cuda._sleep(1000)
    torch.cuda.synchronize()
    if profiler:
        profiler.stop()
        if args.trace:
            profiler.export_chrome_trace(args.trace)
    after, rest = run_steps(step, 100)
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    print(json.dumps({"steps": args.steps, "profile": args.profile, "rank": rank,
                      "us_step": total / args.steps * 1e6, "us_step_median": statistics.median(times) * 1e6,
                      "us_step_after": (sum(after) + rest) / len(after) * 1e6}), flush=True)


if __name__ == "__main__":
    main()
