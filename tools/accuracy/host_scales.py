#!/usr/bin/env python3
"""How fast hosts were without the profiler, as a part of their recorded time, by what it takes to replay their steps.

usage: host_scales.py INTERLACE SET_DIR...

SET_DIR holds a job as run_accuracy.py wants it. base and fused_sparse_dist, which expose the host most, are replayed from
their own recordings with the host as recorded and with it as it usually is without the profiler; the scale that gives
the measured time lies on the line through both. Only where they are at least LEAST_APART of a step apart: elsewhere the
host decides too little. Prints a recording a line, the mean and the spread.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import fitted_values
import predictions
import sets

SCHEDULES = ("base", "fused:s=data_dist")
LEAST_APART = 0.015
ROW = "{:<6} {:<18} {:>9} {:>12} {:>9} {:>6}"


def usual_scale():
    root = Path(__file__).resolve().parents[2]
    [usual] = [value for value in fitted_values.FITTED if value.name == "kUsualHostScale"]
    return float(usual.value(root))


def replayed_ms(interlace, recordings, schedule, *options):
    command = predictions.command(interlace, recordings, [schedule], True)
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["predictions"][0]["step_time_ns"] / 1e6


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    usual = usual_scale()
    scales = []
    print(ROW.format("job", "schedule", "measured", "as recorded", f"at {usual:.2f}", "scale"))
    for folder in map(Path, sys.argv[2:]):
        _, measured = predictions.measurements(folder, folder.name)
        for schedule in SCHEDULES:
            recordings = predictions.rank_files(folder, sets.file_stem(schedule), ".json.gz")
            if schedule not in measured or not recordings:
                continue
            slow = replayed_ms(sys.argv[1], recordings, schedule, "--under-recorder")
            fast = replayed_ms(sys.argv[1], recordings, schedule)
            truth = measured[schedule]["mean_ms"]
            if slow - fast < LEAST_APART * truth:
                continue
            scales.append(1 - (1 - usual) * (slow - truth) / (slow - fast))
            cells = (f"{value:.2f}" for value in (truth, slow, fast, scales[-1]))
            print(ROW.format(folder.name, schedule, *cells))
    mean = statistics.mean(scales)
    print(f"mean {mean:.3f}, standard deviation {statistics.stdev(scales) / mean:.3f} of it, {len(scales)} recordings")


if __name__ == "__main__":
    main()
