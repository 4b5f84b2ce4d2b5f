"""Copies the next batch on a side stream while it trains: torch_pipeline.py [--without wait|record_stream].

Stages are NVTX ranges "<stage> <batch>". `--without wait`: what computes does not wait for the copy of its batch.
`--without record_stream`: the batch's memory comes from the copies' pool and is not recorded on the stream that reads
it, so that a later copy may be given it while it is still read.
"""
import argparse
import contextlib

import torch

SIZE = 512
BATCH = 2048


@contextlib.contextmanager
def stage(name, batch):
    torch.cuda.nvtx.range_push(f"{name} {batch}")
    yield
    torch.cuda.nvtx.range_pop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", choices=["wait", "record_stream"])
    parser.add_argument("--batches", type=int, default=30)
    args = parser.parse_args()
    device = torch.device("cuda", 0)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.ReLU(), torch.nn.Linear(SIZE, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = [torch.randn(BATCH, SIZE).pin_memory() for _ in range(3)]
    copies = torch.cuda.Stream()

    def copy(number):
        with stage("copy_batch_to_gpu", number), torch.cuda.stream(copies):
            return inputs[number % 3].to(device, non_blocking=True)

    batch = copy(0)
    for number in range(args.batches):
        torch.cuda.nvtx.range_push("step")
        following = copy(number + 1)
        with stage("zero_grad", number):
            optimizer.zero_grad(set_to_none=True)
        with stage("dense_forward", number):
            if args.without != "wait":
                torch.cuda.current_stream().wait_stream(copies)
            loss = model(batch).square().mean()
            if args.without != "record_stream":
                batch.record_stream(torch.cuda.current_stream())
        with stage("backward", number):
            loss.backward()
        with stage("optimizer_step", number):
            optimizer.step()
        del loss
        batch = following
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    print(f"{args.batches} batches", flush=True)


main()
