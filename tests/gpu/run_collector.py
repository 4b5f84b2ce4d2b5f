"""Tests and measures `interlace record` on a machine with NVIDIA GPUs.

    python3 run_collector.py --tests FOLDER --out FOLDER [--part NAME ...] [--budget SECONDS]

FOLDER of the tests: what build.sh made. Parts: environment, launches, mixed, crowd, ends, kill, torch, memory,
late, check, switching, benchmark_kinds, benchmark_launches, benchmark_threads, benchmark_graph, benchmark_busy,
benchmark_torch; and, not run unless named, stress, soak, benchmark_cheaper, benchmark_light, left_behind, torch_after, and torchrun and
collectives, which need 2 GPUs. Each part runs on its own, prints PASS or FAIL for each thing it checks, and has a time
limit; what is left of the budget bounds the repetitions. Results: results.json, report.txt, samples.tar.gz in the output
folder.
"""
import argparse
import os
import shutil
import sys
import tarfile
import time
import traceback

import benchmarks
import recordings
import torch_parts
from harness import Run

DEFAULT_PARTS = ["environment", "launches", "mixed", "crowd", "ends", "kill", "torch", "memory", "late", "check", "switching",
                 "benchmark_kinds", "benchmark_launches",
                 "benchmark_threads", "benchmark_graph", "benchmark_busy", "benchmark_torch"]


def find_part(name):
    for module in (recordings, torch_parts, benchmarks):
        if hasattr(module, "part_" + name):
            return getattr(module, "part_" + name)
    raise SystemExit("no part is called " + name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--cupti", help="folder of the libcupti to use")
    parser.add_argument("--part", action="append", help="run only these")
    parser.add_argument("--budget", type=float, default=460, help="seconds for all parts together")
    parser.add_argument("--soak-seconds", type=int, default=480)
    parser.add_argument("--torch-seconds", type=float, default=150, help="for the benchmark of PyTorch")
    parser.add_argument("--launch-seconds", type=float, default=60, help="for the benchmark of the light mode")
    args = parser.parse_args()
    run = Run(args)
    for name in args.part or DEFAULT_PARTS:
        run.part = name
        began = time.monotonic()
        if run.left() < 5:
            run.check(name, False, "no time left for this part")
            continue
        run.say(f"{name}")
        try:
            find_part(name)(run)
        except Exception:  # pylint: disable=broad-except
            run.check(name, False, traceback.format_exc(limit=3))
        run.keep(seconds=round(time.monotonic() - began, 1))
    failed = [one for one in run.results["checks"] if not one["passed"]]
    run.say(f"{len(run.results['checks']) - len(failed)} passed, {len(failed)} failed")
    for one in failed:
        run.say(f"  FAIL {one['part']}: {one['what']}")
    run.save()
    with tarfile.open(os.path.join(run.out, "samples.tar.gz"), "w:gz") as samples:
        samples.add(run.samples, arcname="samples")
    shutil.rmtree(run.work, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
