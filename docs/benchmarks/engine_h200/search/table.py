"""Prints the tables of docs/search.md: what was predicted of schedules, and what they took."""

import json
import pathlib
import statistics

TITLES = {
    "torchrec/sparse_dist": "sparse_dist, recorded",
    "found/sparse_dist_lite_1": "found, made of sparse_dist_lite",
    "found/sparse_dist_lite_2": "found, the same with two changes",
    "found/sparse_dist_lite_3": "found, with one change",
    "found/fused_sparse_dist_before_optimizer_1": "found, made of fused_sparse_dist_before_optimizer",
    "found/staged_1": "found, made of staged",
    "found/semi_sync_1": "found with `--stale 1`, made of semi_sync",
}
TABLES = {
    "one_machine/exposed": "`exposed`",
    "one_machine/t6": "`t6`",
    "1_rank": "`exposed`, 1 rank",
    "2_ranks": "`exposed`, 2 ranks",
}


def full_name(schedule):
    """bench calls a schedule that is a file by that."""
    name = pathlib.PurePath(schedule)
    return f"found/{name.stem.removeprefix('stale_0_').removeprefix('stale_1_')}" if name.suffix == ".json" else schedule


for folder, title in TABLES.items():
    here = pathlib.Path(__file__).parent / folder
    predicted = json.loads((here / "predicted_ns.json").read_text())
    runs = json.loads((here / "bench.json").read_text())["schedules"]
    measured = {full_name(run["schedule"]): run["steady_step_ms"] for run in runs}
    print(f"| {title} | predicted ms | measured ms | least - most |\n|---|---:|---:|---:|")
    recorded = "torchrec/sparse_dist"
    for name in [recorded, *sorted(set(measured) - {recorded}, key=lambda name: predicted[name])]:
        steps = measured[name]
        spread = f"{min(steps):.2f} - {max(steps):.2f}"
        shown = TITLES.get(name, name.removeprefix("torchrec/"))
        print(f"| {shown} | {predicted[name] / 1e6:.2f} | {statistics.median(steps):.2f} | {spread} |")
    print()
