"""Raw results of predictions, read and written: JSON, or JSON compressed with xz where the name ends in .xz, as those of
jobs that were predicted once and are kept are."""

import json
import lzma
from pathlib import Path


def read(path):
    path = Path(path)
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write(path, results):
    """On one line, without spaces."""
    path = Path(path)
    line = (json.dumps(results, separators=(",", ":")) + "\n").encode()
    path.write_bytes(lzma.compress(line, preset=9 | lzma.PRESET_EXTREME) if path.suffix == ".xz" else line)
