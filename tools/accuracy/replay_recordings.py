#!/usr/bin/env python3
"""How far replayed steps are from recorded ones, at the recorded pace of the host: a test that needs no other run.

usage: replay_recordings.py INTERLACE OUT.json NAME=FOLDER... [--commit HASH]

A FOLDER holds .ilt files of one run, or <schedule>.r<rank>.json.gz of several, or folders of these. OUT holds a row a
run: recorded and replayed step in ms, and how much longer the replayed one is, in percent. Rows of other NAMEs, whose
recordings are not at hand, stay as an earlier version left them in OUT.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import predictions  # noqa: E402

RECORDINGS = ".json.gz"
RECORDING = re.compile(r"([a-z_]+)\.r\d+" + re.escape(RECORDINGS))


def runs_in(folder):
    """(name, files) of each recorded run."""
    if any(folder.glob("*.ilt")):
        yield folder, [folder]
        return
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        yield from runs_in(inner)
    found = (RECORDING.fullmatch(path.name) for path in folder.iterdir())
    for stem in sorted({match[1] for match in found if match}):
        yield folder / stem, predictions.rank_files(folder, stem, RECORDINGS)


def replay(interlace, files):
    """The recorded schedule, and its step in ms, recorded and replayed; none where nothing was recognised."""
    # Any schedule will do that the recording has the stages of: the recorded one is always replayed.
    for schedule in ("torchrec/base", "comms/a2a_sync"):
        command = [interlace, "predict", "--under-recorder", "--format", "json", "--schedule", schedule]
        for file in files:
            command += ["--from", file]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            recorded = json.loads(run.stdout)["recorded"]
            return recorded["schedule"], recorded["step_time_ns"] / 1e6, recorded["predicted_step_time_ns"] / 1e6
    return None


def group_of(run):
    return run.partition("/")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interlace", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    names = {named.partition("=")[0] for named in options.folders}
    before = json.loads(options.out.read_text()) if options.out.exists() else {"versions": {}, "left_out": [], "rows": []}
    rows, left_out = [], []
    for group, _, path in (named.partition("=") for named in options.folders):
        for place, files in runs_in(Path(path)):
            name = f"{group}/{place.relative_to(path)}"
            found = replay(options.interlace.resolve(), files)
            if found is None:
                left_out.append(name)
                continue
            schedule, recorded, replayed = found
            off = 100 * (replayed / recorded - 1)
            rows.append(
                {
                    "run": name,
                    "schedule": schedule,
                    "recorded_ms": round(recorded, 3),
                    "replayed_ms": round(replayed, 3),
                    "off_percent": round(off, 2),
                }
            )
            print(f"{off:+6.2f} %  {name}", file=sys.stderr)
    rows += [row for row in before["rows"] if group_of(row["run"]) not in names]
    left_out += [run for run in before["left_out"] if group_of(run) not in names]
    versions = {**before["versions"], **dict.fromkeys(names, options.commit)}
    sizes = [abs(row["off_percent"]) for row in rows]
    summary = {"runs": len(rows), "mean": round(statistics.mean(sizes), 3), "largest": max(sizes)}
    answer = {"versions": dict(sorted(versions.items())), "off_percent": summary, "left_out": left_out, "rows": rows}
    options.out.write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
