#!/usr/bin/env python3
"""Predicts all kept campaigns anew with the present model: writes report_anew.json of each.

    tools/campaigns/repredict.py INTERLACE
"""

import json
import subprocess
import sys
from pathlib import Path

KEPT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "campaigns"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    interlace = Path(sys.argv[1]).resolve()
    for name in json.loads((KEPT / "index.json").read_text())["campaigns"]:
        subprocess.run([interlace, "validate", "--repredict", KEPT / name], check=True, stdout=subprocess.DEVNULL)
        print(name, flush=True)


if __name__ == "__main__":
    main()
