"""Holds the results against the goals, one row a goal, and names what misses them."""

import re
from dataclasses import dataclass, field

import metrics
import sets

MOST_STEP_ERROR = 1.5
MOST_MEAN_SPEEDUP_ERROR = 1.5
MOST_SPEEDUP_ERROR = 3.0
REACH = 1.0
LEAST_ORDER = 95.0
LEAST_INSIDE = 90.0
MOST_EXTRA_WIDTH = 2.0
MOST_ANSWER_MS = 300.0
RACE = re.compile(r"\brac(e|es|ing)\b", re.IGNORECASE)


@dataclass
class Goal:
    text: str
    figure: str
    met: bool
    misses: list = field(default_factory=list)


def evaluations(raw, bimodal):
    """(set, source, rows) of each table that is judged: all but the bimodal sets, or these alone."""
    for name, one_set in raw["sets"].items():
        if (name in sets.BIMODAL_SETS) != bimodal:
            continue
        for source in sets.SOURCES:
            rows = metrics.rows_from(one_set, source)
            if rows:
                yield name, source, rows


def share(part, whole):
    return f"{part} of {whole} ({part / whole * 100:.1f} %)" if whole else "none"


def recorded_schedule(raw, schedules, which):
    errors = [
        (name, schedule, error)
        for name, one_set in raw["sets"].items()
        if name not in sets.BIMODAL_SETS
        for schedule, error in metrics.self_errors(one_set).items()
        if schedule in schedules
    ]
    misses = [f"{name} {schedule}: {error:+.2f} %" for name, schedule, error in errors if abs(error) > MOST_STEP_ERROR]
    met = len(errors) - len(misses)
    text = f"recorded schedule within {MOST_STEP_ERROR} %, {which}"
    return Goal(text, share(met, len(errors)), not misses, misses)


def speedups(raw):
    judged = list(evaluations(raw, bimodal=False))
    all_rows = [row for _, _, rows in judged for row in metrics.others(rows)]
    overall, largest = metrics.size_of(all_rows, "speedup_error")
    mean_misses, most_misses, reached = [], [], 0
    for name, source, rows in judged:
        mean_error, _ = metrics.size_of(rows, "speedup_error")
        reached += mean_error <= REACH
        if mean_error > MOST_MEAN_SPEEDUP_ERROR:
            mean_misses.append(f"{name} from {source}: {mean_error:.2f} %")
        for row in metrics.others(rows):
            if abs(row["speedup_error"]) > MOST_SPEEDUP_ERROR:
                most_misses.append(f"{name} from {source}, {row['schedule']}: {row['speedup_error']:+.2f} %")
    tables = len(judged)
    return [
        Goal(
            f"speed-up error, mean a set and source <= {MOST_MEAN_SPEEDUP_ERROR} %",
            f"{share(tables - len(mean_misses), tables)}; over all {overall:.2f} %",
            not mean_misses,
            mean_misses,
        ),
        Goal(f"reach for: that mean <= {REACH:.0f} %", share(reached, tables), reached == tables),
        Goal(
            f"speed-up error, each <= {MOST_SPEEDUP_ERROR:.0f} %",
            f"{share(len(all_rows) - len(most_misses), len(all_rows))}; largest {largest:.2f} %",
            not most_misses,
            most_misses,
        ),
    ]


def orders(raw):
    right = counted = 0
    misses = []
    for name, source, rows in evaluations(raw, bimodal=False):
        one_right, one_counted = metrics.order(rows)
        right, counted = right + one_right, counted + one_counted
        if one_counted and one_right / one_counted * 100 < LEAST_ORDER:
            misses.append(f"{name} from {source}: {one_right} of {one_counted}")
    met = counted > 0 and right / counted * 100 >= LEAST_ORDER
    return Goal(f"order right in >= {LEAST_ORDER:.0f} % of the pairs that count", share(right, counted), met, misses)


def intervals(raw):
    judged = list(evaluations(raw, bimodal=False))
    rows = [row for _, _, of_source in judged for row in metrics.others(of_source)]
    hits, total = metrics.inside(rows)
    strict, _ = metrics.inside(rows, "strictly_inside")
    outside, wide = [], []
    for name, source, of_source in judged:
        ranged = metrics.others(of_source)
        one_hits, one_total = metrics.inside(ranged)
        if one_hits / one_total * 100 < LEAST_INSIDE:
            outside.append(f"{name} from {source}: {one_hits} of {one_total}")
        width = metrics.mean(row["width"] for row in ranged)
        measured = metrics.mean(row["measured_width"] for row in ranged)
        if width > measured + MOST_EXTRA_WIDTH:
            wide.append(f"{name} from {source}: {width:.2f} % (measured {measured:.2f} %)")
    width = metrics.mean(row["width"] for row in rows)
    measured = metrics.mean(row["measured_width"] for row in rows)
    return [
        Goal(
            f"measured mean inside the interval for >= {LEAST_INSIDE:.0f} %",
            f"{share(hits, total)}; {strict} without the allowance for noise",
            total > 0 and hits / total * 100 >= LEAST_INSIDE,
            outside,
        ),
        Goal(
            f"mean width <= measured + {MOST_EXTRA_WIDTH:.0f} points",
            f"{width:.2f} %, measured {measured:.2f} %",
            width <= measured + MOST_EXTRA_WIDTH,
            wide,
        ),
    ]


def bimodal(raw):
    """Of sets with steps of two lengths: do intervals reach both, and do reasons name the race?"""
    reached, named, total = [], 0, 0
    misses = []
    for name, source, rows in evaluations(raw, bimodal=True):
        for row in rows:
            total += 1
            if row["reaches_both_ends"]:
                reached.append(row)
            else:
                misses.append(f"{name} from {source}, {row['schedule']}")
            named += any(RACE.search(reason) for reason in row["reasons"])
    of = ", ".join(sets.BIMODAL_SETS)
    return [
        Goal(f"{of}: interval reaches both modes", share(len(reached), total), len(reached) == total, misses),
        Goal(f"{of}: a reason names the race", share(named, total), named == total),
    ]


def speed(raw):
    taken = raw.get("fastest_answer_ms")
    text = f"one schedule of c6 in <= {MOST_ANSWER_MS:.0f} ms"
    return Goal(text, f"{taken:.0f} ms, as busy as the machine was" if taken else "not timed", taken is not None and taken <= MOST_ANSWER_MS)


def all_goals(raw):
    sources = recorded_schedule(raw, sets.SOURCES, "the three sources")
    return [sources, recorded_schedule(raw, sets.SCHEDULES, "any"), *speedups(raw), orders(raw), *intervals(raw), *bimodal(raw), speed(raw)]
