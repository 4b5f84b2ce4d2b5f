"""Prints the table of docs/search.md: what was predicted of schedules, and what they took."""

import json
import pathlib
import statistics

ROWS = {
    "torchrec/sparse_dist": "sparse_dist, recorded",
    "torchrec/sparse_dist_lite": "sparse_dist_lite",
    "found/sparse_dist_lite_1": "found, numbers as in a synchronous loop",
    "torchrec/semi_sync": "semi_sync",
    "found/semi_sync_1": "found with `--stale 1`",
}

here = pathlib.Path(__file__).parent
predicted = json.loads((here / "predicted_ns.json").read_text())
measured = {run["schedule"]: run["steady_step_ms"] for run in json.loads((here / "bench.json").read_text())["schedules"]}
print("| schedule | predicted | measured |\n|---|---:|---:|")
for name, title in ROWS.items():
    print(f"| {title} | {predicted[name] / 1e6:.2f} ms | {statistics.median(measured[name]):.2f} ms |")
