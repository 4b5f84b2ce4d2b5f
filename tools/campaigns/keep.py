#!/usr/bin/env python3
"""Keeps finished campaigns in docs/benchmarks/campaigns, without the recordings made for their overlap.

    tools/campaigns/keep.py INTERLACE --role tuned|blind --model COMMIT [--remark TEXT] CAMPAIGN_FOLDER...

COMMIT is the version of the model that made the predictions: of a blind campaign, the one frozen before. What a campaign
has of these is noted in index.json, from which docs/accuracy.md is made.
"""

import argparse
import json
import shutil
import subprocess
from pathlib import Path

KEPT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "campaigns"
FILES = ("plan.json", "prediction.json", "prediction.sha256")


def keep(interlace, campaign):
    to = KEPT / campaign.name
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for name in FILES:
        shutil.copy(campaign / name, to / name)
    for said in sorted(campaign.glob("recording*.json")):
        shutil.copy(said, to / said.name)
        # As it is: the prediction is held to its bytes.
        shutil.copytree(campaign / said.stem, to / said.stem)
    for folder in (campaign / "references", campaign / "runs", *sorted(campaign.glob("traces*"))):
        files = sorted(folder.glob("*.json"))
        if files:
            (to / folder.name).mkdir()
        for file in files:
            shutil.copy(file, to / folder.name)
    if (campaign / "inputs").exists():
        shutil.copytree(campaign / "inputs", to / "inputs")
    report = subprocess.run([interlace, "validate", "--report", to], check=True, capture_output=True, text=True).stdout
    (to / "report.txt").write_text(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interlace", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--role", required=True, choices=["tuned", "blind"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--remark", help="what a reader of the figures has to know")
    options = parser.parse_args()
    index = KEPT / "index.json"
    campaigns = json.loads(index.read_text())["campaigns"] if index.exists() else {}
    for folder in options.folders:
        keep(options.interlace.resolve(), folder.resolve())
        entry = {"role": options.role, "model": options.model}
        campaigns[folder.resolve().name] = {**entry, "remark": options.remark} if options.remark else entry
    index.write_text(json.dumps({"campaigns": dict(sorted(campaigns.items()))}, indent=1) + "\n")


if __name__ == "__main__":
    main()
