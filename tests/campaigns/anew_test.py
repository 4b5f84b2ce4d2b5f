"""The present model says of a kept campaign's recording what report_anew.json holds.

usage: anew_test.py INTERLACE CAMPAIGN_FOLDER
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Compilers and libraries of mathematics differ in last digits, and races may then go another way.
RELATIVE = 2e-3
ABSOLUTE = 0.1  # percent, or points


def differences(place, made, kept):
    if isinstance(kept, dict):
        assert made.keys() == kept.keys(), f"{place}: other keys"
        for key in kept:
            yield from differences(f"{place}/{key}", made[key], kept[key])
    elif isinstance(kept, list):
        assert len(made) == len(kept), f"{place}: {len(made)} instead of {len(kept)}"
        for number, pair in enumerate(zip(made, kept)):
            yield from differences(f"{place}/{number}", *pair)
    elif isinstance(kept, float) and isinstance(made, (int, float)):
        if not math.isclose(made, kept, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{place}: {made} instead of {kept}"
    elif isinstance(kept, int) and "bytes" in place:
        if not math.isclose(made, kept, rel_tol=RELATIVE):
            yield f"{place}: {made} instead of {kept}"
    elif made != kept:
        yield f"{place}: {made} instead of {kept}"


def main():
    interlace, folder = sys.argv[1], Path(sys.argv[2])
    kept = json.loads((folder / "report_anew.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy)
        run = subprocess.run(
            [interlace, "validate", "--repredict", str(copy)], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        made = json.loads((copy / "report_anew.json").read_text())
    found = list(differences("", made, kept))
    assert not found, "\n".join(found)


if __name__ == "__main__":
    main()
