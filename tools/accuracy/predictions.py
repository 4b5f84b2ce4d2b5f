"""Reads what was measured of a set, and runs Interlace on its recordings."""

import json
import re
import statistics
import subprocess
from pathlib import Path

import sets

# Of the recorded program's arguments, what says which job it was.
JOB_FACTS = {
    "world": "ranks",
    "tables": "tables",
    "wtables": "weighted_tables",
    "dim": "dimension",
    "rows": "rows",
    "bs": "batch",
    "pool": "pooling",
    "oao": "over_arch_width",
    "ohl": "over_arch_layers",
    "sharding": "sharding",
    "iters": "measured_steps",
    "trace": "recorded_steps",
}


# A measured step of more than so many medians is the host's stall (it was paused, say), not the schedule's.
STALL = 2


class PredictFailed(Exception):
    pass


def rank_files(folder, stem, suffix):
    """<stem>.r<rank><suffix> of all ranks, by rank."""
    numbered = []
    for path in Path(folder).glob(f"{stem}.r*{suffix}"):
        match = re.fullmatch(re.escape(stem) + r"\.r(\d+)" + re.escape(suffix), path.name)
        if match:
            numbered.append((int(match.group(1)), path))
    return [path for _, path in sorted(numbered)]


def percentile_ends(values):
    """10th and 90th percentile of sorted values: the nearest of them that lies outwards."""
    last = len(values) - 1
    return values[int(0.1 * last)], values[min(last, int(0.9 * last + 0.5))]


def mean_without_stalls(one):
    """Mean step time of a rank in ms over its whole loop without the steps that stalled, and these."""
    steps = one["step_ms"]
    stalls = [step for step in steps if step > STALL * statistics.median(steps)]
    return (one["mean_ms"] * len(steps) - sum(stalls)) / (len(steps) - len(stalls)), stalls


def measurements(folder, name):
    """What a set's measurement files say: the job, and for each schedule that all ranks have its step times in ms.

    The mean is that of the slowest rank over the whole loop; single steps are those of all ranks together. Stalls are
    left out of the mean, not of the single steps.
    """
    files = rank_files(folder, name, ".json")
    if not files:
        raise FileNotFoundError(f"no measurements {name}.r*.json in {folder}")
    ranks = [json.loads(path.read_text()) for path in files]
    measured = {}
    for schedule in ranks[0]["results"]:
        of_ranks = [rank["results"].get(schedule) for rank in ranks]
        if not all(of_ranks):
            continue
        steps = sorted(step for one in of_ranks for step in one["step_ms"])
        low, high = percentile_ends(steps)
        means = [mean_without_stalls(one) for one in of_ranks]
        measured[schedule] = {
            "mean_ms": round(max(mean for mean, _ in means), 6),
            "p10_ms": round(low, 6),
            "p90_ms": round(high, 6),
            "single_steps": len(steps),
        }
        stalls = [round(stall, 1) for _, of_rank in means for stall in of_rank]
        if stalls:
            measured[schedule]["stalls_ms"] = stalls
    arguments = ranks[0]["args"]
    job = {ours: arguments[theirs] for theirs, ours in JOB_FACTS.items()}
    job["interconnect"] = sets.interconnect(name, arguments)
    return job, measured


def command(interlace, recordings, schedules, contention, seed=None):
    words = [str(interlace), "predict", "--format", "json"]
    if seed is not None:
        words += ["--seed", str(seed)]
    for path in recordings:
        words += ["--from", str(path)]
    for schedule in schedules:
        words += ["--schedule", sets.SCHEDULES[schedule]]
    return words if contention else [*words, "--no-contention"]


def predict(interlace, folder, source, schedules, contention, seed=None):
    """A row a schedule, predicted from the recordings of all ranks of `source`; with the usual seed unless given."""
    recordings = rank_files(folder, sets.file_stem(source), ".json.gz")
    if not recordings:
        raise FileNotFoundError(f"no recording of {source} in {folder}")
    done = subprocess.run(
        command(interlace, recordings, schedules, contention, seed), capture_output=True, text=True
    )
    if done.returncode:
        raise PredictFailed(f"{folder}, from {source}: status {done.returncode}: {done.stderr.strip()[-2000:]}")
    by_name = {row["schedule"]: row for row in json.loads(done.stdout)["predictions"]}
    rows = []
    for schedule in schedules:
        row = by_name[sets.SCHEDULES[schedule]]
        rows.append(
            {
                "from": source,
                "schedule": schedule,
                "contention": contention,
                "step_ms": row["step_time_ns"] / 1e6,
                "low_ms": row["step_time_low_ns"] / 1e6,
                "high_ms": row["step_time_high_ns"] / 1e6,
                "reasons": row["reasons"],
            }
        )
    return rows
