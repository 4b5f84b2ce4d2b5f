"""shipped_rows_test.py INTERLACE SAMPLE_SET RAW.json: the committed rows of c6 are what this Interlace predicts.

The sample is part of c6, so the committed measurements are recomputed too. Times may differ a little with the compiler,
never with the machine: the seed is fixed.
"""

import json
import sys
from pathlib import Path

import tools_path  # noqa: F401

import predictions
import sets

TOLERANCE = 0.002
SET = "c6"


def main(interlace, folder, raw):
    committed = json.loads(Path(raw).read_text())["sets"][SET]
    _, measured = predictions.measurements(folder, SET)
    problems = [
        f"{schedule}: measured {values}, committed {committed['measured'].get(schedule)}"
        for schedule, values in measured.items()
        if committed["measured"].get(schedule) != values
    ]
    known = {(row["from"], row["schedule"], row["contention"]): row for row in committed["predictions"]}
    asked = [schedule for schedule in measured if schedule in sets.SCHEDULES]
    compared = 0
    for source in sets.SOURCES:
        for contention in (True, False):
            for row in predictions.predict(interlace, folder, source, asked, contention):
                key = (row["from"], row["schedule"], row["contention"])
                for value in ("step_ms", "low_ms", "high_ms"):
                    compared += 1
                    if key not in known:
                        problems.append(f"{key} is not among the committed rows")
                    elif abs(row[value] / known[key][value] - 1) > TOLERANCE:
                        problems.append(f"{key}: {value} is {row[value]}, committed {known[key][value]}")
    print("\n".join(problems))
    print(f"{compared} values compared, {len(problems)} differ")
    if problems or compared != len(sets.SOURCES) * 2 * 3 * len(asked):
        sys.exit("the model has changed since the accuracy was measured: run tools/accuracy/update.sh SETS_DIR")


if __name__ == "__main__":
    main(*sys.argv[1:])
