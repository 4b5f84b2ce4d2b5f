#!/usr/bin/env python3
"""Puts what commands print into the documents that quote them, or checks that it stands there.

usage: quote_outputs.py [--check] BIN_DIR FILE.md...

A quotation is a fenced block behind a line `<!-- quoted: COMMAND -->`. COMMAND is run by a shell in a folder of its own
where `samples` is that of the repository and the programs of BIN_DIR are on the path, 100 columns wide. --check takes
numbers for equal that differ by 2 % or by 0.05: libraries of mathematics differ from system to system. Exit 1 where a
quotation is another.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUOTATION = re.compile(r"(<!-- quoted: (?P<command>.+?) -->\n+```\w*\n)(?P<text>.*?)(?=^```$)", re.S | re.M)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def output_of(command, bin_dir):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "samples").symlink_to(ROOT / "samples")
        path = f"{Path(bin_dir).resolve()}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
        run = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
    if run.returncode != 0:
        sys.exit(f"{command}: status {run.returncode}\n{run.stderr}")
    return "".join(line.rstrip() + "\n" for line in run.stdout.splitlines())


def is_same_number(a, b):
    a, b = float(a), float(b)
    return abs(a - b) <= max(0.05, 0.02 * max(a, b))


def is_same(quoted, printed):
    """But for small differences of numbers, and for how lines of text and bars of a scale change with them."""

    def words(text):
        return NUMBER.sub("#", re.sub(r"[\s├┤─●]+", " ", text))

    numbers = [NUMBER.findall(text) for text in (quoted, printed)]
    return words(quoted) == words(printed) and all(is_same_number(a, b) for a, b in zip(*numbers))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("bin_dir")
    parser.add_argument("documents", nargs="+", type=Path)
    asked = parser.parse_args()
    status = 0
    for document in asked.documents:
        text = document.read_text()
        found = list(QUOTATION.finditer(text))
        if not found:
            sys.exit(f"{document}: quotes no output")
        for quotation in found:
            printed = output_of(quotation["command"], asked.bin_dir)
            if not is_same(quotation["text"], printed):
                status = 1
                print(f"{document}: `{quotation['command']}` now prints\n{printed}")
            text = text.replace(quotation[0], quotation[1] + printed)
        if not asked.check:
            document.write_text(text)
    return status if asked.check else 0


if __name__ == "__main__":
    sys.exit(main())
