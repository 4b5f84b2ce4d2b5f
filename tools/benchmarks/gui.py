#!/usr/bin/env python3
"""Measures the speed of the GUI and writes docs/benchmarks/gui/gui.json and gui.md.

    tools/benchmarks/gui.py [BIN_DIR]

BIN_DIR holds benchmark_gui_frame and benchmark_gui_open (build/desktop/bin unless given). Takes two minutes and 4 GB.
INTERLACE_TRACE_PROCESSOR may name a local binary of Perfetto's trace_processor_shell to compare with.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "docs/benchmarks/gui"
FRAME_OPERATIONS = 10_000_000
OPEN_OPERATIONS = 1_000_000


def run(program, operations, *options):
    environment = dict(os.environ, INTERLACE_BENCHMARK_OPERATIONS=str(operations), QT_QPA_PLATFORM="offscreen")
    answer = subprocess.run([program, "--benchmark_format=json", *options], env=environment, check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(answer.stdout[answer.stdout.index("{"):])["benchmarks"]


def frames(programs):
    rows = run(programs / "benchmark_gui_frame", FRAME_OPERATIONS, "--benchmark_min_time=0.001")
    return {row["name"]: {"operations": int(row["operations"]), "frames": int(row["frames"]),
                          "p50_ms": round(row["p50_ms"], 2), "p99_ms": round(row["p99_ms"], 2),
                          "max_ms": round(row["max_ms"], 2)} for row in rows}


def opening(programs):
    """The median of five runs of each, by time."""
    runs = [run(programs / "benchmark_gui_open", OPEN_OPERATIONS, "--benchmark_min_time=0.001") for _ in range(5)]
    found = {}
    for rows in zip(*runs):
        name = rows[0]["name"].removesuffix("/real_time")
        if any(row.get("error_occurred") for row in rows):
            continue
        median = sorted(rows, key=lambda row: row["real_time"])[len(rows) // 2]
        found[name] = {"ms": round(median["real_time"])}
        if "operations" in median:
            found[name]["operations"] = int(median["operations"])
            found[name]["bytes_an_operation"] = round(median["bytes_an_operation"], 1)
    return found


def text(results):
    lines = ["# Speed of the GUI", "",
             "Made by `tools/benchmarks/gui.py`; do not edit. " + results["machine"] + ".", "",
             "A frame of pan and zoom at 1920x1080, drawn in software over one trace; processor time of the drawing thread. "
             "Wanted: P99 of at most 16 ms.", "",
             "| frames of | operations | P50 ms | P99 ms | longest ms |", "|---|---|---|---|---|"]
    for name, row in results["frames"].items():
        lines.append(f"| {name} | {row['operations']:,} | {row['p50_ms']} | {row['p99_ms']} | {row['max_ms']} |")
    lines += ["", "Opening a file until it can be drawn, with dependencies; time on the wall, median of five. Wanted: a "
              "second for .ilt, three for Kineto's .json.gz of a million events, 200 bytes an operation. And one schedule "
              "predicted from the shipped recording until it can be drawn. Wanted: well under a second.", "",
              "| | operations | ms | bytes an operation |", "|---|---|---|---|"]
    for name, row in results["opening"].items():
        operations = f"{row['operations']:,}" if "operations" in row else ""
        lines.append(f"| {name} | {operations} | {row['ms']} | {row.get('bytes_an_operation', '')} |")
    return "\n".join(lines) + "\n"


def main():
    programs = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/desktop/bin").resolve()
    results = {"machine": f"{os.cpu_count()} cores ({platform.machine()})", "frames": frames(programs),
               "opening": opening(programs)}
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "gui.json").write_text(json.dumps(results, indent=2) + "\n")
    (OUT / "gui.md").write_text(text(results))
    print(text(results))


if __name__ == "__main__":
    main()
