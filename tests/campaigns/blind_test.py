"""A campaign that is called blind was the first of its job.

usage: blind_test.py CAMPAIGNS_FOLDER
"""

import json
import sys
from pathlib import Path


def job_of(folder):
    """What decides how long a step takes: the batch is that of the recorded run, said or usual."""
    plan = json.loads((folder / "plan.json").read_text())
    batch = json.loads((folder / "recording.json").read_text())["batch"]
    return plan["created"], (plan["workload"], batch, plan["ranks"], sorted(plan["environment"].items()))


def main():
    kept = Path(sys.argv[1])
    index = json.loads((kept / "index.json").read_text())["campaigns"]
    jobs = {name: job_of(kept / name) for name in index}
    for name, (created, job) in jobs.items():
        before = [other for other, (when, same) in jobs.items() if same == job and when < created]
        assert index[name]["role"] != "blind" or not before, f"{name} is called blind, but {before} ran this job before"


if __name__ == "__main__":
    main()
