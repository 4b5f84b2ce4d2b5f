#!/usr/bin/env python3
"""picture.py RAW.json > docs/pictures/accuracy.svg: what was predicted of each schedule over what it took, as dots.

A dot is a schedule that was predicted from another one's recording: to the right by how much longer its step is than
the recorded schedule's as measured, up by how much as predicted, in percent. Dots on the diagonal are right; saying that
nothing changes puts all of them on the horizontal line.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import campaigns  # noqa: E402
import goals  # noqa: E402
import metrics  # noqa: E402
import raw_results  # noqa: E402
import unseen  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SIDE = 300  # of a panel
GAP = 62  # to the left of it, for its scale
TOP, BOTTOM = 62, 82
BAND = goals.MOST_SPEEDUP_ERROR
CLASSES = ("sparse", "base", "fused", "engine")
LABELS = ("from sparse", "from base", "from fused:s=new", "engine, from what it recorded")


def of_sets(raws):
    """(class, measured, predicted step over that of the recorded schedule) of each other schedule."""
    dots = []
    for raw in raws:
        for _, source, rows in goals.evaluations(raw, bimodal=False):
            recorded = next(row for row in rows if row["is_source"])
            dots += [(source.partition(":")[0], *ratios(row, recorded)) for row in metrics.others(rows)]
    return dots


def of_campaigns(folder):
    dots = []
    for one in campaigns.load(folder).values():
        rows = [row for row in one["report"]["schedules"] if row["measured_ms"]]
        recorded = next(row for row in rows if row["recorded"])
        dots += [("engine", *ratios(row, recorded)) for row in rows if not row["recorded"]]
    return dots


def ratios(row, recorded):
    return tuple(row[key] / recorded[key] for key in ("measured_ms", "predicted_ms"))


def shown(value):
    return f"{value:+d}" if value else "0"


def panel(title, dots, left):
    """One square: `dots` on equal scales from the first to the last ten percent that any of them lies in."""
    changes = [(name, *(metrics.percent(ratio, 1) for ratio in both)) for name, *both in dots]
    values = [value for _, *both in changes for value in both]
    low, high = (10 * bound for bound in (min(values) // 10, -(-max(values) // 10)))
    off = [abs(metrics.percent(predicted, measured)) for _, measured, predicted in dots]
    nothing = [abs(metrics.percent(1, measured)) for _, measured, _ in dots]

    def x(value):
        return round(left + (value - low) / (high - low) * SIDE, 1)

    def y(value):
        return round(TOP + (high - value) / (high - low) * SIDE, 1)

    # What lies within the goal: a strip along the diagonal, cut at the corners of the square.
    corners = [(low, low + BAND), (high - BAND, high), (high, high), (high, high - BAND), (low + BAND, low), (low, low)]
    parts = [
        f'<text class="title" x="{left}" y="{TOP - 30}">{title}</text>',
        f'<text x="{left}" y="{TOP - 13}">{len(dots)} predictions, {metrics.mean(off):.1f} % off; '
        f"&#8220;no change&#8221; {metrics.mean(nothing):.1f}</text>",
        f'<rect class="frame" x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>',
        f'<polygon class="goal" points="{" ".join(f"{x(a)},{y(b)}" for a, b in corners)}"/>',
        f'<path class="rule" d="M{x(low)} {y(low)}L{x(high)} {y(high)}M{x(low)} {y(0)}H{x(high)}"/>',
    ]
    for value in range(int(low), int(high) + 1, 10 if high - low <= 60 else 20):
        parts.append(f'<text class="scale" x="{x(value)}" y="{TOP + SIDE + 16}">{shown(value)}</text>')
        parts.append(f'<text class="side" x="{left - 6}" y="{y(value) + 4}">{shown(value)}</text>')
    for wanted in CLASSES:
        # A dot is a line of no length with round ends: a fifth of the bytes of a circle.
        marks = "".join(f"M{x(a)} {y(b)}h0" for name, a, b in changes if name == wanted)
        if marks:
            parts.append(f'<path class="dot {wanted}" d="{marks}"/>')
    return parts


STYLE = """
text{font:12px sans-serif;fill:#24292f}.title{font-weight:bold;font-size:13px}.scale{text-anchor:middle}
.side{text-anchor:end}.frame{fill:none;stroke:#8c959f}.goal{fill:#8c959f;opacity:.22}.rule{stroke:#8c959f;fill:none}
.dot{stroke-width:5;stroke-linecap:round;fill:none;stroke-opacity:.75}
.sparse{stroke:#0969da}.base{stroke:#d4720b}.fused{stroke:#1a7f37}.engine{stroke:#8250df}
.page{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#d1d7e0}.page{fill:#0d1117}}
"""


def picture(panels):
    width = len(panels) * (SIDE + GAP) + 30
    height = TOP + SIDE + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
    ]
    for i, (title, dots) in enumerate(panels):
        parts += panel(title, dots, GAP + i * (SIDE + GAP))
    at = GAP
    for name, label in zip(CLASSES, LABELS):
        parts.append(f'<path class="dot {name}" d="M{at + 4} {height - 36}h0"/>')
        parts.append(f'<text x="{at + 12}" y="{height - 32}">{label}</text>')
        at += 40 + 7 * len(label)
    parts.append(
        f'<text x="{GAP}" y="{height - 11}">to the right: by how much longer the step is than the recorded schedule\'s as '
        f"measured, up: as predicted, in percent; grey: within {BAND:g} points</text>"
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def panels(raw):
    place = ROOT / "docs" / "benchmarks"
    never_seen = [first for _, _, first, _ in unseen.load(place / "accuracy")]
    return [
        ("TorchRec, given sets but t7", of_sets([raw])),
        ("TorchRec, never seen, as predicted first", of_sets(never_seen)),
        ("Campaigns of the engine, as predicted first", of_campaigns(place / "campaigns")),
    ]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: picture.py RAW.json > docs/pictures/accuracy.svg")
    sys.stdout.write(picture(panels(raw_results.read(sys.argv[1]))))


if __name__ == "__main__":
    main()
