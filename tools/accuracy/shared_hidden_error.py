#!/usr/bin/env python3
"""How much of its own error in hidden communication the replay of the recorded schedule shares with predictions of the
others (kSharedHiddenError).

usage: shared_hidden_error.py INTERLACE OUT.json [NAME=SETS_DIR ...]

From the kept campaigns and from the sets in each SETS_DIR, whose schedules were each recorded: all predicted as
recordings of them would show it (--under-recorder). OUT holds the slopes of the other schedules' errors over the recorded
one's, both differences of log(hidden / exposed), with the interval that holds 95 % of bootstraps over recordings, how far
the others are off in points with and without the correction, and the points. Errors are as replayed, not corrected.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import predictions  # noqa: E402
import sets  # noqa: E402
from shared_error import BENCHMARKS, fitted, used  # noqa: E402

LEAST_PART = 0.01  # as in simulator/cli/overlap_anchor.cpp


def log_odds(part):
    known = min(1 - LEAST_PART, max(LEAST_PART, part))
    return math.log(known / (1 - known))


def uncorrected(part, by):
    """What became `part` when `by` was taken from the logarithm of its odds."""
    return part if part in (0, 1) else 1 / (1 + math.exp(-by) * (1 - part) / part)


def predict(interlace, recordings, schedules):
    """What `predict` says of schedules (Interlace's names) as recordings of them would show it."""
    command = [interlace, "predict", "--under-recorder", "--format", "json"]
    for path in recordings:
        command += ["--from", path]
    for schedule in schedules:
        command += ["--schedule", schedule]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def point(name, answer, measured, shared):
    """Errors of one recording's predictions. measured: the hidden part by schedule."""
    recorded = answer["recorded"]
    shown, replayed = recorded["overlap"]["communication_hidden_ratio"], recorded["replayed_hidden_ratio"]
    if shown is None or replayed is None:
        return None
    error = log_odds(replayed) - log_odds(shown)
    others, off = {}, []
    for row in answer["predictions"]:
        truth, corrected = measured.get(row["schedule"]), row["overlap"]["communication_hidden_ratio"]
        if row["schedule"] == recorded["schedule"] or truth is None or corrected is None:
            continue
        replayed_so = uncorrected(corrected, shared * error)
        others[row["schedule"]] = log_odds(replayed_so) - log_odds(truth)
        off.append((100 * abs(replayed_so - truth), 100 * abs(corrected - truth)))
    return {"recording": name, "own": error, "others": others, "off": off} if others else None


def campaigns(interlace, shared):
    for folder in sorted(path.parent for path in (BENCHMARKS / "campaigns").glob("*/report_anew.json")):
        report = json.loads((folder / "report_anew.json").read_text())
        measured = {
            row["schedule"]: row["measured_communication_hidden_ratio"]
            for row in report["schedules"]
            if row["measured_communication_hidden_ratio"] is not None
        }
        if measured:
            answer = predict(interlace, [folder / "recording"], measured)
            yield point(f"campaigns/{folder.name}", answer, measured, shared)


def torchrec(interlace, name, folder, shared):
    for one in sorted(path for path in folder.iterdir() if path.is_dir()):
        recordings = {
            ours: predictions.rank_files(one, sets.file_stem(schedule), ".json.gz")
            for schedule, ours in sets.SCHEDULES.items()
        }
        recordings = {schedule: files for schedule, files in recordings.items() if files}
        answers = {schedule: predict(interlace, files, recordings) for schedule, files in recordings.items()}
        shown = {s: a["recorded"]["overlap"]["communication_hidden_ratio"] for s, a in answers.items()}
        for schedule, answer in answers.items():
            yield point(f"{name}/{one.name}/{schedule}", answer, shown, shared)


def summary(points):
    off = [pair for one in points for pair in one["off"]]
    return fitted(points, "own") | {
        "off_points_replayed": round(statistics.mean(replayed for replayed, _ in off), 2),
        "off_points_corrected": round(statistics.mean(corrected for _, corrected in off), 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interlace", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="*", help="NAME=SETS_DIR")
    options = parser.parse_args()
    interlace, shared = options.interlace.resolve(), used("kSharedHiddenError")
    groups = {"campaigns": [one for one in campaigns(interlace, shared) if one]}
    for named in options.sets:
        name, folder = named.split("=", 1)
        groups[name] = [one for one in torchrec(interlace, name, Path(folder), shared) if one]
    answer = {name: summary(points) for name, points in groups.items()}
    answer["points"] = [one for points in groups.values() for one in points]
    for one in answer["points"]:
        one.pop("off")
    options.out.write_text(json.dumps(answer, indent=1) + "\n")
    for name in groups:
        print(name, answer[name])


if __name__ == "__main__":
    main()
