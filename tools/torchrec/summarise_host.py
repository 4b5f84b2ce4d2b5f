#!/usr/bin/env python3
"""Of runs of host_cost.py: microseconds a step by region, without and under the profiler, and what is noted there.

usage: summarise_host.py RUNS.jsonl.xz
"""

import collections
import json
import lzma
import sys

LEAST_US = 30
ROW = "{:<50} {:>8.0f} {:>9.0f} {:>6.2f} {:>10.0f} {:>7.0f}"


def main():
    regions = collections.defaultdict(list)
    with lzma.open(sys.argv[1], "rt") as runs:
        for run in map(json.loads, runs):
            for name in run["profiled_us"][0][1]:
                plain = min(by_region.get(name, 0) for _, by_region in run["plain_us"][:3])
                profiled = min(by_region.get(name, 0) for _, by_region in run["profiled_us"])
                events = run["events"].get(name, {})
                operators = sum(n for kind, n in events.items() if kind.endswith("cpu_op"))
                regions[name].append((plain, profiled, operators, sum(events.values()) - operators))
    print(f"{'region, mean over the runs that have it':<50} {'us':>8} {'profiled':>9} {'ratio':>6} {'operators':>10} {'calls':>7}")
    for name, rows in sorted(regions.items(), key=lambda item: -sum(row[1] for row in item[1])):
        plain, profiled, operators, calls = (sum(column) / len(rows) for column in zip(*rows))
        if profiled > LEAST_US:
            print(ROW.format(name[:50], plain, profiled, plain / profiled, operators, calls))


if __name__ == "__main__":
    main()
