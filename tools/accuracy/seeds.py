#!/usr/bin/env python3
"""How much of the figures is the luck of a seed: all sets predicted with several, each held against the goals.

usage: seeds.py INTERLACE SETS_DIR OUT.json [--seeds 1 2 3 ...] [--runs N] [--commit HASH] [--jobs N]

Takes a minute or two a seed. The default seed of `predict` is 1. What OUT.json holds of other seeds stays, so that a
program built with another number of simulations a prediction (PredictOptions::runs) can be set beside the usual one.
"""

import argparse
import datetime
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import goals  # noqa: E402
import run_accuracy  # noqa: E402
import sets  # noqa: E402
from markdown import paragraph, table  # noqa: E402


USUAL_RUNS = 4


def row_name(seed, runs):
    return str(seed) if runs == USUAL_RUNS else f"{seed}, {runs} simulations"


# Short names of the first of goals.all_goals.
GOALS = ("recorded", "any", "mean <= 1.5", "<= 1", "each <= 3", "order", "inside", "width", "modes")


def figures(raw):
    """The mean error of speed-ups, and of each goal the count, or the size, without what it is in percent."""
    of_goals = dict(zip(GOALS, goals.all_goals(raw)))
    off = re.search(r"over all ([0-9.]+) %", of_goals["mean <= 1.5"].figure)
    return {"off": off[1], **{name: re.split(r" \(|,|;| %", goal.figure)[0] for name, goal in of_goals.items()}}


def section(answer):
    by_seed = answer["seeds"]
    header = ("seed", *next(iter(by_seed.values())))
    return [
        "### How much of this is luck",
        paragraph(
            "A prediction is a mean over four simulations, whose hosts and single host times are drawn. The same goals, "
            f"as other seeds meet them (Interlace {answer['version']}, {answer['date']}, by `{answer['command']}`; the "
            "default is seed 1):"
        ),
        table(header, [(seed, *(text.replace(" of ", "/") for text in row.values())) for seed, row in by_seed.items()]),
        paragraph(
            '"off" is the mean error of speed-ups; "recorded" and "any" are the schedules of which the replay of their own recording '
            'is within 1.5 %; "modes" are the intervals that reach both modes of t7. Where sixteen simulations make a '
            "prediction, what remains is not luck."
        ),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interlace")
    parser.add_argument("sets_dir")
    parser.add_argument("out")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5, 6])
    parser.add_argument("--runs", type=int, default=USUAL_RUNS, help="simulations a prediction that INTERLACE is built for")
    parser.add_argument("--commit", help="of which INTERLACE was built; this checkout's unless given")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    answer = {
        "version": asked.commit or run_accuracy.version(),
        "date": datetime.date.today().isoformat(),
        "command": "tools/accuracy/seeds.py INTERLACE SETS_DIR OUT.json",
        "seeds": {},
    }
    if Path(asked.out).exists():
        answer["seeds"] = json.loads(Path(asked.out).read_text())["seeds"]
    with ThreadPoolExecutor(asked.jobs) as pool:
        for seed in asked.seeds:
            print(f"seed {seed}", file=sys.stderr)
            raw = {
                "sets": {
                    name: run_accuracy.run_set(pool, asked.interlace, asked.sets_dir, name, seed)
                    for name in sets.PREDICTED_SETS
                }
            }
            answer["seeds"][row_name(seed, asked.runs)] = figures(raw)
    Path(asked.out).write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
