"""The section on campaigns of `interlace validate`: what was predicted of the engine's schedules, and what they did."""

import json
import statistics

from markdown import bullets, pair, paragraph, table

GOALS = {"mean": 1.0, "largest": 3.0, "overlap": 2.0, "allocated": 0.1, "reserved": 3.0}


def load(folder):
    """By name: what index.json says of it, its report, and that of the present model."""
    index = json.loads((folder / "index.json").read_text())["campaigns"]
    campaigns = {}
    for name, entry in index.items():
        place = folder / name
        campaigns[name] = dict(
            entry,
            report=json.loads((place / "report.json").read_text()),
            anew=json.loads((place / "report_anew.json").read_text()),
        )
    return campaigns


def sizes(report, key):
    values = report["summary"][key]
    return (values["mean"], values["largest"]) if values else (None, None)


def gap(report):
    """By how much the slowest schedule takes longer than the fastest, in percent."""
    measured = [row["measured_ms"] for row in report["schedules"] if row["runs"]]
    return (max(measured) / min(measured) - 1) * 100


def order(report):
    summary = report["summary"]
    return f"{summary['pairs_right']}/{summary['pairs_counted']}"


def speedups(campaigns, which):
    header = ["campaign", "gap", "speed-up", "floor", "no change", "no sharing", "critical", "step", "order"]
    rows = []
    for name, one in campaigns.items():
        report = one[which]
        rows.append(
            [
                name,
                f"{gap(report):.1f}",
                pair(sizes(report, "speedup_error_percent")),
                pair(sizes(report, "repeat_floor_percent")),
                pair(sizes(report, "no_change_error_percent")),
                pair(sizes(report, "no_contention_error_percent")),
                pair(sizes(report, "critical_path_error_percent")),
                f"{sizes(report, 'step_error_percent')[0]:.2f}",
                order(report),
            ]
        )
    return table(header, rows)


def overlap_and_memory(campaigns):
    header = ["campaign", "hidden, points", "now", "allocated, worst", "now", "reserved, worst", "now"]
    keys = ("overlap_error_points", "allocated_error_percent", "reserved_error_percent")
    rows = []
    for name, one in campaigns.items():
        cells = [name]
        for key in keys:
            for which in ("report", "anew"):
                mean, largest = sizes(one[which], key)
                digits = 3 if key == keys[1] else 2
                cells.append("" if mean is None else pair((mean, largest)) if key == keys[0] else f"{largest:.{digits}f}")
        rows.append(cells)
    return table(header, rows)


def goals(campaigns, which):
    """A goal a row: its name, how many campaigns meet it of those that know it, and the names of those that do not."""
    reports = {name: one[which] for name, one in campaigns.items()}

    def goal(text, key, position, bound):
        known = {name: sizes(report, key) for name, report in reports.items()}
        known = {name: values[position] for name, values in known.items() if values[0] is not None}
        missed = [name for name, value in known.items() if value > bound]
        return f"{text} <= {bound:g}", f"{len(known) - len(missed)} of {len(known)}", missed

    return [
        goal("speed-up error, mean", "speedup_error_percent", 0, GOALS["mean"]),
        goal("speed-up error, largest", "speedup_error_percent", 1, GOALS["largest"]),
        goal("hidden communication, points, largest", "overlap_error_points", 1, GOALS["overlap"]),
        goal("allocated, largest", "allocated_error_percent", 1, GOALS["allocated"]),
        goal("reserved, largest", "reserved_error_percent", 1, GOALS["reserved"]),
    ]


def pairs_in_order(campaigns, which):
    """Of the pairs that differ by more than twice their spread."""
    summaries = [one[which]["summary"] for one in campaigns.values()]
    return f"{sum(s['pairs_right'] for s in summaries)} of {sum(s['pairs_counted'] for s in summaries)}"


def met(campaigns, which):
    """How many campaigns meet each goal, in words."""
    return [
        *(
            f"{name}: {count}" + (f"; not: {', '.join(missed)}" if missed else "")
            for name, count, missed in goals(campaigns, which)
        ),
        f"order right for {pairs_in_order(campaigns, which)} pairs that differ by more than twice their spread",
    ]


def mean_over(campaigns, which, key):
    """Mean of the campaigns' means, of those that know it."""
    known = [sizes(one[which], key)[0] for one in campaigns.values()]
    return statistics.mean(mean for mean in known if mean is not None)


def over_all(campaigns, which):
    def mean(key):
        return f"{mean_over(campaigns, which, key):.2f}"

    return (
        f"speed-up {mean('speedup_error_percent')} (floor {mean('repeat_floor_percent')}); no change "
        f"{mean('no_change_error_percent')}, without contention {mean('no_contention_error_percent')}, critical path "
        f"alone {mean('critical_path_error_percent')}."
    )


def hidden_between_processes(campaigns):
    """What the recording and the traced run of the recorded schedule differ by, in points: the present model predicts
    of a recording of it what was recorded (docs/decisions/0014)."""
    off = [row["overlap_error_points"] for one in campaigns.values() for row in one["anew"]["schedules"] if row["recorded"]]
    return [abs(points) for points in off if points is not None]


def all_of_them(campaigns):
    """What holds over all campaigns: as predicted first and by the present model, a goal or figure a row."""
    both = ("report", "anew")
    means = {
        "speed-up error, mean": "speedup_error_percent",
        "the same of single rounds (floor)": "repeat_floor_percent",
        "the same of saying that nothing changes": "no_change_error_percent",
        "the same without contention": "no_contention_error_percent",
        "the same of the critical path alone": "critical_path_error_percent",
        "hidden communication, points off, mean": "overlap_error_points",
        "the same of so few traced steps (floor)": "overlap_floor_points",
    }
    rows = [[text, *(f"{mean_over(campaigns, which, key):.2f}" for which in both)] for text, key in means.items()]
    for (name, then, _), (_, now, _) in zip(*(goals(campaigns, which) for which in both)):
        rows.append([name, then, now])
    rows.append(["order right", *(pairs_in_order(campaigns, which) for which in both)])
    return table(["over all campaigns", "predicted first", "now"], rows)


def by_model(campaigns):
    """The campaigns of each model that predicted some."""
    models = sorted({one["model"] for one in campaigns.values()})
    return {model: {name: one for name, one in campaigns.items() if one["model"] == model} for model in models}


def section(folder):
    campaigns = load(folder)
    parts = [
        "## Recordings of the engine",
        paragraph(
            "Campaigns of `interlace validate` (docs/validate.md), raw results in docs/benchmarks/campaigns: one schedule "
            "was recorded, the others were predicted from it, the predictions' digest was kept, then each ran five times. "
            "The first table of each kind is of those predictions; what the model of this page says, knowing the "
            "measurements, is in the second (\"now\"). Errors are mean / largest over the schedules, in percent; *gap*: by "
            "how much the slowest schedule takes longer than the fastest; *floor*: what single rounds are off the medians "
            "of all; *no sharing*: without contention; *critical*: the critical path alone; *order*: pairs in the right "
            "order of those that differ by more than twice their spread. Names that begin with h100 ran on one H100, a "
            "GPU of which no model had seen a recording, all others on H200s. Since 2026-11-23 the recorded schedule is "
            "predicted to take what its recording tells of its steps without the recorder (docs/decisions/0013)."
        ),
    ]
    blind = {name: one for name, one in campaigns.items() if one["role"] == "blind"}
    tuned = {name: one for name, one in campaigns.items() if one["role"] == "tuned"}
    between = hidden_between_processes(campaigns)
    parts += [
        f"### All {len(campaigns)}",
        all_of_them(campaigns),
        paragraph(
            "Hidden communication of two processes of one schedule, the recorded and a traced one, differs by "
            f"{statistics.mean(between):.1f} points in the mean, {statistics.median(between):.1f} in the median and "
            f"{max(between):.0f} at most: what no prediction from one recording can know."
        ),
    ]
    kinds = [
        (f"Blind, for {model}", "Predicted once, by a model that had not seen them:", chosen)
        for model, chosen in by_model(blind).items()
    ]
    kinds.append(("Looked at", "The model was changed while looking at these. Predicted by:", tuned))
    for title, text, chosen in kinds:
        if not chosen:
            continue
        models = by_model(chosen)
        changed = any(one["report"]["summary"] != one["anew"]["summary"] for one in chosen.values())
        remarks = {name: one for name, one in chosen.items() if "remark" in one}
        parts += [
            f"### {title}",
            paragraph(
                f"{text} {', '.join(models)}. Means over them, as predicted then: {over_all(chosen, 'report')} "
                + (f"Now: {over_all(chosen, 'anew')}" if changed else "The present model says the same.")
            ),
            *([bullets(f"{name}: {one['remark']}." for name, one in remarks.items())] if remarks else []),
            speedups(chosen, "report"),
            *([paragraph("Now:"), speedups(chosen, "anew")] if changed else []),
            paragraph("Hidden part of communication, and peaks of memory:"),
            overlap_and_memory(chosen),
            paragraph("Goals, as predicted:"),
            bullets(f"{text}." for text in met(chosen, "report")),
            *([paragraph("Now:"), bullets(f"{text}." for text in met(chosen, "anew"))] if changed else []),
        ]
    return parts
