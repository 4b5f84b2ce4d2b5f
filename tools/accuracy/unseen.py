"""The section on jobs that were recorded after the model was made: predicted once as it was, and again since."""

import goals
import memory
import metrics
import predictions
import raw_results
import sets
from markdown import bullets, pair, paragraph, signed, table

# What they are, by the name of their raw results: torchrec_h200_<name>.json.xz as predicted first,
# torchrec_h200_<name>_now.json.xz as predicted again.
GROUPS = {
    "unseen": (
        "Five jobs of 2026-11-22",
        "Recorded by tools/torchrec on two H200s of one host, NV18, with TorchRec 1.6.1 and PyTorch 2.11: the sharding, "
        "interconnects and shapes of the sets above, mixed anew. The model of that day predicted them once before "
        "anybody looked at them (the first column of each pair). They have been looked at since: row-wise tables came "
        "out with 6 to 9 % too many or too few bytes, from some recordings with 50 to 183 % too many; allocated bytes do so "
        "no longer. *Sparse again*: by how much a second run of "
        "sparse differs from the first, in percent.",
    ),
    "blind": (
        "Three jobs after the last change",
        "Recorded in the same way, and predicted when the model had been frozen with what the five jobs above taught. y2 is "
        "bound by the host, which the profiler slows by a fifth; from there comes its largest error.",
    ),
    "fresh": (
        "Four jobs after races were learned from the recording",
        "Recorded in the same way, and predicted when what the eight jobs above taught of races and of reserved memory was in "
        "the model; column-wise tables for the first time. z6 was recorded on a machine on which sparse itself took 2.5 % less "
        "the second time.",
    ),
    "one_gpu": (
        "Three jobs on a single GPU",
        "Recorded in the same way on one H200 by itself, and predicted by the first version that predicts such recordings, "
        "which one other job had taught (samples/traces/torchrec_w1_1_rank). They showed that a loop that asks for splits module "
        "by module, as base does, exchanges none there; it is told apart since.",
    ),
    "slow_host": (
        "Eleven jobs on a slow host",
        "Recorded in the same way on two H200s on 2026-11-24, on a host whose launches take 9 us under the profiler, where "
        "those of the sets above take 4.5. Four jobs are new (a1 to a4), the others are those of their names once more. a1 and "
        "y2_again are bound by the host, and there the same schedule took 10 and 11 % less in its second process. Recordings in "
        "which one rank's host was disturbed (of sparse in x2_again and a3, above all) were predicted 9 to 26 % wrong; what is "
        "done about it since is in docs/contention.md, *Hosts*.",
    ),
    "frozen": (
        "Five jobs after hosts were looked at",
        "Recorded in the same way and on the same kind of machine, when the model had been frozen with what the eleven jobs "
        "above taught. The model before that would have been 2.17 % off in the mean, 11.8 at most. Where they miss, it is base "
        "that comes out too long (b3, b4): the loop's thread was slower on both ranks than it was without the profiler.",
    ),
    "quiet": (
        "Thirteen jobs on a quiet host",
        "Recorded in the same way on 2026-11-26, on two H200s of a host on which the same schedule repeats within 0.2 % for "
        "most jobs. Four jobs are new (c1 to c4), the others are those of their names once more. The model was frozen. y2_3 is "
        "bound by the host.",
    ),
    "busy": (
        "Twelve jobs on a busy host",
        "Recorded in the same way on 2026-11-28, on two H200s of a slow host whose other cores made the next jobs' batches "
        "meanwhile. Eight jobs are new (d1 to d8), the others are those of their names once more. The model was frozen. d7, "
        "d8 and y2_4 are bound by the host, and what they took without the profiler tells little: sparse itself took 16 % "
        "less, 41 and 7 % more in its second process. base of d1 and d2 gained less without the profiler than the model "
        "takes off, so that all that is predicted from it there comes out too long beside it; fused_sparse_dist comes out "
        "too short in most jobs.",
    ),
    "exposed_host": (
        "Fourteen jobs, to look at hosts",
        "Recorded in the same way on 2026-11-28, on two H200s of a host whose launches take 9 us under the profiler and on "
        "which sparse repeats within 0.7 %. Seven jobs are new (e1 to e7), the others are those of their names once more. The "
        "model was frozen. In the mean fused_sparse_dist comes out 1.9 to 2.5 % too short, base 1.3 to 2.1 % too long: both "
        "expose the host, which takes longer for the one and less for the other than it does under the recorded schedule "
        "(docs/contention.md, *Hosts*).",
    ),
    "queues": (
        "Ten jobs after queues of commands were looked at",
        "Recorded in the same way on 2026-11-29, on two H200s of a host that was at times disturbed: semi of f1 takes 20 to "
        "29 ms a step, fused_sparse_dist of f6 36 to 40, and under the profiler sparse of e5_2 29 ms where it takes 20. Six "
        "jobs are new (f1 to f6), the others are those of their names once more. The model was frozen. f4 showed that uneven "
        "parts of an exchange were not told apart where kernels ran beside them (docs/contention.md, *Jagged exchanges*).",
    ),
    "raced": (
        "Ten jobs, of three of which batches were overwritten",
        "Recorded in the same way on 2026-11-30, on two H200s of a slow host. Six jobs are new (g1 to g6), the others are those "
        "of their names once more. The model was frozen. The recordings of fused:s=new of g1, g2 and d2_3 are of runs that went "
        "wrong: lookups read batches whose memory was in use again, and took up to 1.4 s (docs/check.md, *A run that went wrong*). "
        "From the one of g1 all steps were predicted 13 to 18 % too long; kernels are no longer taken to need what they took in "
        "a few steps in which they ran on by themselves, and Interlace warns of all three (replay.changing_kernels). Exchanges "
        "through host memory (g3, g6, x3_5) take 3 to 8 % more or less in one process than in the next of the same job.",
    ),
    "lone": (
        "Four more jobs on a single GPU",
        "Recorded in the same way on 2026-12-01 on one H200. Two jobs are new (w9, w10), the others are those of their names once "
        "more. The model was frozen. w10 is bound by the host: under sparse nine steps in ten take 7.6 to 10.9 ms. base and "
        "fused_sparse_dist, which expose the host, come out too short, as this host gained less without the profiler than the "
        "model takes off. fused:s=new of w7 and its like showed that kernels wait for SMs that are divided for their shared "
        "memory (docs/contention.md).",
    ),
}


def files(place):
    """(name, file as predicted first, file as predicted last: the same until predicted again) of each group there."""
    for name in GROUPS:
        first, now = (place / f"torchrec_h200_{name}{end}.json.xz" for end in ("", "_now"))
        if first.exists():
            yield name, first, now if now.exists() else first


def load(place):
    """(title, text, raw as predicted first, raw as predicted last) of each group whose raw results are there."""
    return [(*GROUPS[name], *(raw_results.read(file) for file in both)) for name, *both in files(place)]


def judged(raw):
    """(set, source, rows) of every table."""
    return list(goals.evaluations(raw, bimodal=False))


def all_rows(raw):
    return [row for _, _, rows in judged(raw) for row in metrics.others(rows)]


def speedups(first, now):
    latest = {(name, source): rows for name, source, rows in judged(now)}
    table_rows = []
    for name, source, rows in judged(first):
        again = latest[name, source]
        table_rows.append(
            (
                name,
                source,
                pair(metrics.size_of(rows, "speedup_error")),
                pair(metrics.size_of(again, "speedup_error")),
                pair(metrics.size_of(rows, "no_change_error")),
                "{}/{}".format(*metrics.order(rows)),
                "{}/{}".format(*metrics.order(again)),
                "{}/{}".format(*metrics.inside(metrics.others(rows))),
                "{}/{}".format(*metrics.inside(metrics.others(again))),
                f"{metrics.mean(r['width'] for r in metrics.others(again)):.2f}",
            )
        )
    header = ("set", "from", "speed-up", "now", "no change", "order", "now", "inside", "now", "width")
    return table(header, table_rows)


def peaks(first, now):
    if not first.get("memory"):
        return paragraph("Memory was not recorded.")
    table_rows = []
    for name, found in first["memory"].items():
        for source in memory.SOURCES:
            cells = [name, source]
            for figure in ("allocated", "reserved"):
                for rows in (found, now["memory"][name]):
                    cells.append(f"{memory.worst([r for r in rows if r['from'] == source], figure):+.2f}")
            table_rows.append(cells)
    return table(("set", "from", "allocated, worst", "now", "reserved, worst", "now"), table_rows)


def jobs(raw):
    rows = []
    for name, one_set in raw["sets"].items():
        repeat = metrics.repeat_difference(one_set)
        rows.append((name, *sets.job_cells(one_set["job"]), signed(repeat)))
    return table(("set", *sets.JOB_HEADER, "sparse again"), rows)


def stalls(raw):
    """What of the measurements was left out, in words; none where nothing was."""
    found = [
        f"{name}, {schedule}: {', '.join(f'{ms:.0f}' for ms in truth['stalls_ms'])} ms"
        for name, one_set in raw["sets"].items()
        for schedule, truth in one_set["measured"].items()
        if "stalls_ms" in truth
    ]
    if not found:
        return []
    return [
        f"Steps longer than {predictions.STALL} medians, one a rank, are in no measured mean, which they would raise by a tenth "
        f"(a rule made when these had been seen; no step of the sets above is as long): {'; '.join(found)}."
    ]


def sizes(raw):
    rows = all_rows(raw)
    within = sum(abs(row["speedup_error"]) <= goals.MOST_SPEEDUP_ERROR for row in rows)
    right, counted = (sum(column) for column in zip(*(metrics.order(rows) for _, _, rows in judged(raw))))
    inside, of = metrics.inside(rows)
    return (
        f"speed-up error {pair(metrics.size_of(rows, 'speedup_error'))} (no change "
        f"{pair(metrics.size_of(rows, 'no_change_error'))}), {within} of {len(rows)} within "
        f"{goals.MOST_SPEEDUP_ERROR:.0f} %, order {right} of {counted}, inside the interval {inside} of {of}"
    )


def section(parts):
    """parts: groups as load() gives them."""
    page = ["## Jobs never seen before"]
    for title, text, first, now in parts:
        page += [
            f"### {title}",
            paragraph(text),
            jobs(first),
            bullets(
                [
                    f"As predicted first, by {first['version']}: {sizes(first)}.",
                    *([f"Now, by {now['version']}: {sizes(now)}."] if now != first else []),
                    *stalls(first),
                ]
            ),
            speedups(first, now),
            peaks(first, now),
        ]
    return page
