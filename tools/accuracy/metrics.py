"""How far predictions are from measurements: pure functions of the raw results."""

import itertools

import sets

# Two runs of one schedule differ by this part of their step time (docs/accuracy.md shows it anew): a mean that misses
# an interval by less is inside, and pairs of schedules that differ by less than twice as much have no order.
NOISE = 0.0045


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def most(values):
    return max(values, default=None)


def percent(predicted, measured):
    return (predicted / measured - 1) * 100


def rows_from(one_set, source, contention=True):
    """A row a schedule predicted from `source`, errors in percent, positive where the prediction is too slow.

    The speed-up is that over the source's schedule, on the predicted side as predicted; that of a slower step counts
    as slower too: predicted over measured ratio of step times. The source itself has none.
    """
    measured = one_set["measured"]
    predicted = {
        row["schedule"]: row
        for row in one_set["predictions"]
        if row["from"] == source and row["contention"] == contention
    }
    rows = []
    for schedule, row in predicted.items():
        truth = measured[schedule]
        ratio = truth["mean_ms"] / measured[source]["mean_ms"]
        is_source = schedule == source
        low, high = row["low_ms"], row["high_ms"]
        rows.append(
            {
                "schedule": schedule,
                "is_source": is_source,
                "measured_ms": truth["mean_ms"],
                "predicted_ms": row["step_ms"],
                "low_ms": low,
                "high_ms": high,
                "step_error": percent(row["step_ms"], truth["mean_ms"]),
                "speedup_error": None
                if is_source
                else percent(row["step_ms"] / predicted[source]["step_ms"], ratio),
                "no_change_error": None if is_source else percent(1.0, ratio),
                "strictly_inside": low <= truth["mean_ms"] <= high,
                "inside": low * (1 - NOISE) <= truth["mean_ms"] <= high * (1 + NOISE),
                "reaches_both_ends": low * (1 - 2 * NOISE) <= truth["p10_ms"]
                and truth["p90_ms"] <= high * (1 + 2 * NOISE),
                "width": (high - low) / truth["mean_ms"] * 100,
                "measured_width": (truth["p90_ms"] - truth["p10_ms"]) / truth["mean_ms"] * 100,
                "reasons": row.get("reasons", []),
            }
        )
    return rows


def others(rows):
    return [row for row in rows if not row["is_source"]]


def size_of(rows, key):
    """Mean and maximum of the sizes of a percentage, over the rows that have one."""
    sizes = [abs(row[key]) for row in rows if row[key] is not None]
    return mean(sizes), most(sizes)


def order(rows):
    """(pairs in the right order, pairs that count): those whose measured times differ by more than noise."""
    right = counted = 0
    for a, b in itertools.combinations(rows, 2):
        gap = a["measured_ms"] - b["measured_ms"]
        if abs(gap) <= 2 * NOISE * max(a["measured_ms"], b["measured_ms"]):
            continue
        counted += 1
        right += gap * (a["predicted_ms"] - b["predicted_ms"]) > 0
    return right, counted


def inside(rows, key="inside"):
    return sum(row[key] for row in rows), len(rows)


def self_errors(one_set):
    """schedule -> error in percent of its step time, predicted from its own recording."""
    return {
        row["schedule"]: percent(row["step_ms"], one_set["measured"][row["schedule"]]["mean_ms"])
        for row in one_set["predictions"]
        if row["contention"] and row["from"] == row["schedule"]
    }


def speedup_differences(first, second, source):
    """schedule -> percent by which two measurements of one job disagree about its speed-up over `source`."""
    a, b = first["measured"], second["measured"]
    return {
        schedule: percent(
            a[schedule]["mean_ms"] / a[source]["mean_ms"], b[schedule]["mean_ms"] / b[source]["mean_ms"]
        )
        for schedule in a
        if schedule in b and schedule in sets.SCHEDULES and schedule != source
    }


def repeat_difference(one_set):
    """Percent between two runs of one schedule in one process; None where it ran once."""
    first, again = sets.REPEATED
    measured = one_set["measured"]
    return percent(measured[again]["mean_ms"], measured[first]["mean_ms"]) if again in measured else None
