"""The shipped recordings of the engine predict each other's schedules as docs/benchmarks/campaigns/t6_nvlink measured.

usage: engine_recordings_test.py INTERLACE SAMPLES_FOLDER CAMPAIGN_FOLDER

A recording has to be recognised, the peaks of allocated memory of all schedules to come out exactly, and the speed-ups
over all sources and schedules to be off by no more than the bounds below, which the benchmarks page states.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

MEAN_BOUND = 0.015
LARGEST_BOUND = 0.03
ALLOCATED_BOUND = 0.001
# A recording of these does not tell how long the lengths of the exchanged features live.
ALLOCATED_BOUND_FROM = {"torchrec/semi_sync": 0.0013, "torchrec/fused_sparse_dist_new_stream": 0.0013}


def predict(interlace, folder, schedules):
    command = [interlace, "predict", "--from", *map(str, sorted(folder.glob("*.ilt"))), "--format", "json"]
    for schedule in schedules:
        command += ["--schedule", schedule]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return {row["schedule"]: row for row in json.loads(run.stdout)["predictions"]}


def main():
    interlace, samples, campaign = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    measured = {
        row["schedule"]: row["measured_ms"] for row in json.loads((campaign / "report.json").read_text())["schedules"]
    }
    folders = sorted(folder for folder in samples.iterdir() if folder.is_dir())
    names = ["torchrec/" + folder.name for folder in folders]
    errors = []
    for folder, name in zip(folders, names):
        rows = predict(interlace, folder, names)
        for other in names:
            engine = json.loads((samples / f"{other.removeprefix('torchrec/')}.json").read_text())
            for rank, told in enumerate(engine["ranks"]):
                off = rows[other]["allocated_peak_bytes"][rank] / told["peak_allocated_bytes"] - 1
                bound = ALLOCATED_BOUND_FROM.get(name, ALLOCATED_BOUND)
                assert abs(off) <= bound, f"{other} from {name}, rank {rank}: peak of allocated memory {off:+.3%}"
        own = rows[name]["step_time_ns"]
        for other in names:
            if other == name:
                continue
            error = rows[other]["step_time_ns"] / own * measured[name] / measured[other] - 1
            errors.append(abs(error))
            print(f"from {name}: {other} {error:+.2%}")
    mean = statistics.mean(errors)
    print(f"mean {mean:.2%}, largest {max(errors):.2%}")
    assert mean <= MEAN_BOUND, f"mean error of speed-ups {mean:.2%}"
    assert max(errors) <= LARGEST_BOUND, f"largest error of a speed-up {max(errors):.2%}"


if __name__ == "__main__":
    main()
