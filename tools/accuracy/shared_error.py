#!/usr/bin/env python3
"""How much of its own error the replay of the recorded schedule shares with predictions of the others (kSharedError).

usage: shared_error.py INTERLACE OUT.json

From the kept campaigns, whose recordings tell what the recorded schedule's steps took, and from the kept results of
TorchRec's sets. OUT holds the slopes of log(predicted / measured) of other schedules over that of the recorded one, with
the interval that holds 95 % of bootstraps over recordings, and the points. Predictions are as replayed, not corrected.
"""

import argparse
import json
import math
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import goals  # noqa: E402
import metrics  # noqa: E402
import raw_results  # noqa: E402
import unseen  # noqa: E402
from fitted_values import FITTED  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks"
BOOTSTRAPS = 2000


def used(name):
    """The value of a fitted constant."""
    return float(next(one for one in FITTED if one.name == name).value(ROOT))


def campaign(interlace, folder, shared):
    """Errors of one campaign, as replayed: of the recorded schedule as its recording tells, and as measured; of the others."""
    report = json.loads((folder / "report_anew.json").read_text())
    measured = {row["schedule"]: row["measured_ms"] for row in report["schedules"] if row["measured_ms"]}
    command = [interlace, "predict", "--from", folder / "recording", "--format", "json"]
    for schedule in measured:
        command += ["--schedule", schedule]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    recorded = answer["recorded"]
    if recorded["replay_error"] is None:
        return None
    off = 1 + recorded["replay_error"]
    replayed_ms = recorded["predicted_step_time_ns"] / 1e6 * off
    others = {
        row["schedule"]: math.log(row["step_time_ns"] / 1e6 * off**shared / measured[row["schedule"]])
        for row in answer["predictions"]
        if row["schedule"] != recorded["schedule"]
    }
    return {
        "recording": f"campaigns/{folder.name}",
        "told": math.log(off),
        "measured": math.log(replayed_ms / measured[recorded["schedule"]]),
        "others": others,
    }


def torchrec(path):
    """The same of the sets in one file of raw results, whose recordings tell no step."""
    raw = raw_results.read(path)
    for name, source, rows in goals.evaluations(raw, bimodal=False):
        itself = next(row for row in rows if row["is_source"])
        yield {
            "recording": f"{path.name.partition('.')[0]}/{name}/{source}",
            "told": None,
            "measured": math.log(1 + itself["step_error"] / 100),
            "others": {row["schedule"]: math.log(1 + row["step_error"] / 100) for row in metrics.others(rows)},
        }


def slope(points, of):
    pairs = [(point[of], error) for point in points for error in point["others"].values()]
    return sum(x * y for x, y in pairs) / sum(x * x for x, _ in pairs)


def fitted(points, of):
    draws = random.Random(1)
    again = sorted(slope(draws.choices(points, k=len(points)), of) for _ in range(BOOTSTRAPS))
    return {
        "recordings": len(points),
        "pairs": sum(len(point["others"]) for point in points),
        "slope": round(slope(points, of), 3),
        "low": round(again[int(0.025 * BOOTSTRAPS)], 3),
        "high": round(again[int(0.975 * BOOTSTRAPS) - 1], 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interlace", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    shared = used("kSharedError")
    folders = sorted(path.parent for path in (BENCHMARKS / "campaigns").glob("*/report_anew.json"))
    campaigns = [campaign(options.interlace.resolve(), folder, shared) for folder in folders]
    campaigns = [point for point in campaigns if point]
    accuracy = BENCHMARKS / "accuracy"
    files = [accuracy / "torchrec_h200.json", *(latest for _, _, latest in unseen.files(accuracy))]
    points = campaigns + [point for file in files for point in torchrec(file)]
    answer = {
        "told by the recording": fitted(campaigns, "told"),
        "measured": fitted(points, "measured"),
        "points": points,
    }
    options.out.write_text(json.dumps(answer, indent=1) + "\n")
    for name in ("told by the recording", "measured"):
        print(name, answer[name])


if __name__ == "__main__":
    main()
