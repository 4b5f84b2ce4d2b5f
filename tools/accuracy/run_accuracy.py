#!/usr/bin/env python3
"""Predicts every measured schedule of every set from each source schedule, and each schedule from its own recording.

usage: run_accuracy.py INTERLACE SETS_DIR OUT.json [--sets t2 t6 ...] [--memory c6 ...]
       [--commit HASH] [--jobs N]

SETS_DIR/<set> holds <set>.r<rank>.json (measured without a profiler) and <schedule>.r<rank>.json.gz (recordings of the
PyTorch profiler). Writes the raw results that make_accuracy_md.py reads. Exit 1 where a prediction failed.
"""

import argparse
import datetime
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import memory  # noqa: E402
import predictions  # noqa: E402
import raw_results  # noqa: E402
import sets  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HARDWARE = (
    "NVIDIA H200 GPUs of one host, joined by NV18, one process a GPU; PyTorch 2.11.0 (CUDA 13.0), TorchRec 1.6.1, "
    "fbgemm-gpu 1.6.0, NCCL 2.28.9; recorded by the PyTorch profiler, measured without it"
)
SPEED_SET = "c6"


def has_recording(folder, schedule):
    return bool(predictions.rank_files(folder, sets.file_stem(schedule), ".json.gz"))


def runs_of(folder, measured):
    """(source, schedules, contention) of one call of Interlace each."""
    known = [schedule for schedule in measured if schedule in sets.SCHEDULES]
    runs = []
    for source in known:
        if not has_recording(folder, source):
            continue
        if source in sets.SOURCES:
            runs += [(source, known, True), (source, known, False)]
        else:
            runs.append((source, [source], True))
    return runs


def run_set(pool, interlace, sets_dir, name, seed=None):
    folder = Path(sets_dir) / name
    job, measured = predictions.measurements(folder, name)
    rows = []
    if name not in sets.MEASURED_ONLY_SETS:
        futures = [pool.submit(predictions.predict, interlace, folder, *run, seed) for run in runs_of(folder, measured)]
        rows = [row for future in futures for row in future.result()]
    if name not in sets.BIMODAL_SETS:
        for row in rows:
            del row["reasons"]  # only the races of these are judged
    return {
        "job": job,
        "measured": measured,
        "predictions": rows,
    }


def fastest_answer_ms(interlace, sets_dir, times=7):
    """Shortest wall time of predicting one schedule, from the start of the process."""
    folder = Path(sets_dir) / SPEED_SET
    recordings = predictions.rank_files(folder, "sparse", ".json.gz")
    taken = []
    for _ in range(times):
        began = time.monotonic()
        subprocess.run(
            predictions.command(interlace, recordings, ["base"], True), check=True, stdout=subprocess.DEVNULL
        )
        taken.append((time.monotonic() - began) * 1e3)
    return round(min(taken), 1)


def version():
    described = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--tags", "--dirty"], capture_output=True, text=True
    )
    return described.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interlace")
    parser.add_argument("sets_dir")
    parser.add_argument("out")
    parser.add_argument("--sets", nargs="+", default=[*sets.PREDICTED_SETS, *sets.MEASURED_ONLY_SETS])
    parser.add_argument("--memory", nargs="*", default=memory.SETS, help="sets whose peaks of memory are predicted")
    parser.add_argument("--commit", help="of which INTERLACE was built; this checkout's unless given")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    result = {
        "version": asked.commit or version(),
        "date": datetime.date.today().isoformat(),
        "command": "tools/accuracy/update.sh SETS_DIR",
        "recorded_on": HARDWARE,
        "sets": {},
    }
    try:
        with ThreadPoolExecutor(asked.jobs) as pool:
            for name in asked.sets:
                print(f"predicting {name}", file=sys.stderr)
                result["sets"][name] = run_set(pool, asked.interlace, asked.sets_dir, name)
        for name in asked.memory:
            print(f"predicting memory of {name}", file=sys.stderr)
            result.setdefault("memory", {})[name] = memory.run_set(asked.interlace, asked.sets_dir, name)
        if SPEED_SET in asked.sets:
            print(f"timing {SPEED_SET}", file=sys.stderr)
            result["fastest_answer_ms"] = fastest_answer_ms(asked.interlace, asked.sets_dir)
            result["timed_on"] = f"{platform.machine()}, as found: other work may have run beside it"
    except (predictions.PredictFailed, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"run_accuracy.py: {failure}")
    raw_results.write(asked.out, result)


if __name__ == "__main__":
    main()
