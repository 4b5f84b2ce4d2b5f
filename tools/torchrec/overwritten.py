#!/usr/bin/env python3
"""Whether batches were overwritten while lookups read them: what interlace check says of recordings with allocator events.

usage: overwritten.py INTERLACE SETS_DIR...

SETS_DIR holds a folder a job as record_set.py writes it, of a set with "memory". Prints a recorded window a line: the
step without the profiler and with it (of the window after it, without allocator events), the longest kernel but NCCL's of
the window in ms, the hazards found, how often they were seen and overlapped, and by how much at most in ms.
"""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

ROW = "{:<5} {:<20} {:>8} {:>11} {:>11} {:>8} {:>5} {:>11} {:>9}"


def schedules(folder):
    return sorted({re.sub(r"\.mem\.r\d+\.json\.gz$", "", path.name) for path in folder.glob("*.mem.r*.json.gz")})


def longest_kernel_ms(path):
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    return max(e["dur"] for e in events if e.get("cat") == "kernel" and "nccl" not in e["name"]) / 1e3


def hazards(interlace, files):
    done = subprocess.run([interlace, "-q", "check", "--format", "json", *files], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"overwritten.py: {done.stderr.strip()}")
    return json.loads(done.stdout)["traces"][0]["hazards"]


def step_ms(folder, schedule, field):
    """Of the slowest rank."""
    named = [json.loads(path.read_text())["results"] for path in folder.glob(f"{folder.name}.r*.json")]
    return max(value[field] for of_rank in named for name, value in of_rank.items() if stem(name) == schedule)


def stem(schedule):
    return schedule.replace(":", "_").replace("=", "")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    print(ROW.format("job", "schedule", "step ms", "profiled ms", "longest ms", "hazards", "seen", "overlapped", "by ms"))
    for folder in map(Path, sys.argv[2:]):
        for schedule in schedules(folder):
            found = hazards(sys.argv[1], sorted(folder.glob(f"{schedule}.mem.r*")))
            longest = max(map(longest_kernel_ms, folder.glob(f"{schedule}.mem.r*.json.gz")))
            worst = max((-one["smallest_margin_ns"] for one in found), default=0) / 1e6
            cells = (
                folder.name,
                schedule,
                f"{step_ms(folder, schedule, 'mean_ms'):.2f}",
                f"{step_ms(folder, schedule, 'profiled_mean_ms'):.1f}",
                f"{longest:.1f}",
                len(found),
                sum(one["occurrences"] for one in found),
                sum(one["overlapped"] for one in found),
                f"{worst:.1f}" if worst > 0 else "-",
            )
            print(ROW.format(*cells).rstrip())


if __name__ == "__main__":
    main()
