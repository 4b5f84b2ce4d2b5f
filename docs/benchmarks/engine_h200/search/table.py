"""Prints the tables of docs/search.md: what was predicted of schedules, and what they took."""

import json
import pathlib
import statistics

ROWS = {
    "torchrec/sparse_dist": "sparse_dist, recorded",
    "torchrec/sparse_dist_lite": "sparse_dist_lite",
    "torchrec/fused_sparse_dist_before_optimizer": "fused_sparse_dist_before_optimizer",
    "found/sparse_dist_lite_1": "found, made of it",
    "found/fused_sparse_dist_before_optimizer_1": "found, made of it",
    "torchrec/semi_sync": "semi_sync",
    "found/semi_sync_1": "found with `--stale 1`, made of it",
}

for ranks in ("1_rank", "2_ranks"):
    here = pathlib.Path(__file__).parent / ranks
    predicted = json.loads((here / "predicted_ns.json").read_text())
    runs = json.loads((here / "bench.json").read_text())["schedules"]
    measured = {run["schedule"]: run["steady_step_ms"] for run in runs}
    print(f"| {ranks.replace('_', ' ')} | predicted ms | measured ms | least - most |\n|---|---:|---:|---:|")
    for name, title in ROWS.items():
        if name in measured:
            steps = measured[name]
            spread = f"{min(steps):.2f} - {max(steps):.2f}"
            print(f"| {title} | {predicted[name] / 1e6:.2f} | {statistics.median(steps):.2f} | {spread} |")
    print()
