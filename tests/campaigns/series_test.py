"""tools/campaigns/run_series.py runs a table of campaigns: side by side, within a time, past one that fails.

usage: series_test.py INTERLACE SERIES_SCRIPT RECORDING

RECORDING is of torchrec/base. An engine that computes nothing stands in for the real one.
"""

import importlib.util
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ENGINE = """#!/usr/bin/env python3
import json, sys
words = sys.argv[1:]
if "--help" in words: sys.exit(0)
if "wrong" in words: sys.exit("error[engine.bad_workload]: wrong")
steps = int(words[words.index("--steps") + 1])
json.dump({"schedule": words[words.index("--schedule") + 1], "seconds": 0.01 * steps, "timed_steps": steps, "warmup": 0,
           "ranks": [{"peak_allocated_bytes": 5, "peak_reserved_bytes": 7, "step_ms": [10.0] * steps}] * 2}, sys.stdout)
"""


def campaign(name, **more):
    return {"name": name, "role": "tuned", "workload": "any", "ranks": 2, "record": "torchrec/base",
            "schedules": ["torchrec/sparse_dist"], "repeats": 2, "steps": 3, "warmup": 1, **more}


def report_in(out, name, work):
    with tarfile.open(out / f"{name}.tar.xz") as tar:
        tar.extractall(work, filter="data")
    return json.loads((work / name / "report.json").read_text())


def check_series(script, folder, recording, interlace):
    bin_dir = folder / "bin"
    bin_dir.mkdir()
    (bin_dir / "interlace").symlink_to(interlace)
    (bin_dir / "interlace-engine").write_text(ENGINE)
    (bin_dir / "interlace-engine").chmod(0o755)
    table = folder / "table.json"
    table.write_text(json.dumps({"campaigns": [
        campaign("one"), campaign("bad", workload="wrong"), campaign("never", record="torchrec/none"),
        campaign("wide", ranks=4), campaign("too_wide", ranks=8), campaign("blind", role="blind")]}))
    out = folder / "out"
    command = [sys.executable, script, bin_dir, out, "--table", table, "--groups", "0,1,2,3", "4,5", "--device", "cpu",
               "--from", recording, "--role", "tuned"]
    run = subprocess.run([*command, "--seconds", "100"], capture_output=True, text=True, check=False)
    assert run.returncode == 3, run.stdout + run.stderr
    lines = {line["name"]: line for line in json.loads((out / "series.json").read_text())["campaigns"]}
    assert {name: line["status"] for name, line in lines.items()} == {"one": 0, "bad": 1, "never": 1, "wide": 0}, lines
    assert lines["wide"]["gpus"] == [0, 1, 2, 3]
    report = report_in(out, "one", folder)
    assert [row["runs"] for row in report["schedules"]] == [2, 2]
    assert all("wrong" in row["failure"] for row in report_in(out, "bad", folder)["schedules"])
    assert not (folder / "one" / "predicted").exists(), "predicted traces are not kept"

    # What was lost is made again, and nothing else.
    kept = json.loads((folder / "one" / "runs" / "001.json").read_text())
    (folder / "one" / "runs" / "003.json").unlink()
    with tarfile.open(out / "one.tar.xz", "w:xz") as tar:
        tar.add(folder / "one", "one")
    run = subprocess.run([*command, "--only", "one", "--seconds", "100"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    report_in(out, "one", folder)
    assert json.loads((folder / "one" / "runs" / "001.json").read_text()) == kept
    assert (folder / "one" / "runs" / "003.json").exists()


def check_cores(script):
    spec = importlib.util.spec_from_file_location("run_series", script)
    series = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(series)
    assert series.read_list("0-2,8\n") == {0, 1, 2, 8}
    near = {0: {0, 1, 2, 3}, 1: {0, 1, 2, 3}, 2: {0, 1, 2, 3}, 3: {4, 5, 6, 7}, 4: set()}
    shared = series.share_cores([[0, 1], [2], [3]], near, set(range(8)))
    assert shared == [{0, 1}, {2, 3}, {4, 5, 6, 7}], shared
    assert series.share_cores([[4]], near, {1, 2}) == [{1, 2}]


def main():
    interlace, script, recording = (Path(word).resolve() for word in sys.argv[1:])
    check_cores(script)
    with tempfile.TemporaryDirectory() as place:
        check_series(script, Path(place), recording, interlace)


if __name__ == "__main__":
    main()
