"""Starts CUDA, works for a while, and only then loads PyTorch, as programs do that begin with another library.

At the end destructors run behind handlers that were registered after their library was loaded, before others: a handler
of the first CUDA call would find PyTorch's allocator destroyed.
"""
import ctypes
import time

driver = ctypes.CDLL("libcuda.so.1")
if driver.cuInit(0) != 0:
    raise SystemExit("no GPU")
time.sleep(0.5)

import torch  # noqa: E402, isort: skip: behind the first call, on purpose

made = torch.ones(1 << 20, device="cuda")
for _ in range(20):
    made = made * 1.0001
time.sleep(1)  # until the recorder has seen it
torch.cuda.synchronize()
print("made", float(made[0]))
