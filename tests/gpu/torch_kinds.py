"""What each kind of CUPTI's records adds to a training step: torch_kinds.py KINDS ..., under libraw_cupti.so.

All in one process, in turn, so that little else differs. Prints JSON: the median microseconds of a step under each.
"""
import ctypes
import json
import os
import statistics
import sys
import time

import torch

from torch_mlp import make_step, run_steps


def main():
    step = make_step(torch.device("cuda", 0))
    run_steps(step, 50)
    library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    found = {kinds: [] for kinds in sys.argv[1:]}
    for _ in range(9):
        for kinds, times in found.items():
            library.raw_cupti_configure(kinds.encode())
            run_steps(step, 5)
            begin = time.perf_counter()
            run_steps(step, 40)
            times.append((time.perf_counter() - begin) / 40 * 1e6)
    print(json.dumps({kinds: statistics.median(times) for kinds, times in found.items()}))


main()
