#!/usr/bin/env python3
"""Writes the tables of `seeds/` to standard output: tables.py INTERLACE, the program that reads recordings."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "seeds"


def load(name):
    return json.loads((HERE / name).read_text())


def bench_rows(name):
    """Step in ms, allocated and reserved GB, by schedule."""
    rows = {}
    for line in load(name)["schedules"]:
        rows[line["schedule"].split("/")[1]] = (
            statistics.median(line["steady_step_ms"]),
            line["peak_allocated_bytes_p90"] / 1e9,
            line["peak_reserved_bytes_p90"] / 1e9,
        )
    return rows


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def events_of(interlace, recording):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "trace.json"
        command = [interlace, "--quiet", "convert", str(HERE / "recordings" / recording), "-o", str(out)]
        subprocess.run(command, check=True)
        return json.loads(out.read_text())["traceEvents"]


def kernels(events, word):
    return [e for e in events if e.get("cat") == "kernel" and word in e["name"]]


def beside(one, other):
    return max(0.0, min(one["ts"] + one["dur"], other["ts"] + other["dur"]) - max(one["ts"], other["ts"]))


def seed_2916():
    said = {
        "semi_sync": (5447, 61.63, 64.31),
        "fused_sparse_dist_new_stream": (5606, 53.23, 68.61),
        "fused_sparse_dist_before_optimizer": (5662, 53.23, 68.67),
        "sparse_dist": (6034, 51.80, 62.25),
    }
    rows = bench_rows("seed_2916.json")
    last, last_said = rows["sparse_dist"][0], said["sparse_dist"][0]
    out = []
    for name, (time, allocated, reserved) in said.items():
        step, here, held = rows[name]
        out.append([name, f"{step:.1f}", f"{100 * (step / last - 1):+.1f} %", f"{100 * (time / last_said - 1):+.1f} %",
                    f"{here:.1f}", f"{allocated:.1f}", f"{held:.1f}", f"{reserved:.1f}"])
    table(["torchrec-2916", "ms a step", "beside sparse_dist", "there", "GB allocated", "there", "GB reserved", "there"], out)


def steps(title, name):
    rows = bench_rows(name)
    last = rows["sparse_dist"][0]
    table([title, "ms a step", "beside sparse_dist", "GB allocated", "GB reserved"],
          [[n, f"{r[0]:.2f}", f"{100 * (r[0] / last - 1):+.1f} %", f"{r[1]:.2f}", f"{r[2]:.2f}"] for n, r in rows.items()])


def messages(interlace):
    out = []
    for name in ("a2a_sync", "a2a_async", "validate_blocking", "validate_event_at_once", "validate_event_late", "validate_unsafe"):
        run = load(f"a2a_{name}.json")
        first = run["warmup"] + 1
        times = run["ranks"][0]["step_ms"][first:run["warmup"] + run["timed_steps"]]
        reads = [v["passed"] for v in run["validations"] if v["mode"] != "compute"]
        events = events_of(interlace, f"a2a_{name}.ilt")
        waits = [e["dur"] for e in events if e.get("cat") == "cuda_runtime" and e["name"].startswith("cudaEventSynchronize")]
        host = f"{sum(waits) / run['timed_steps'] / 1000:.2f}" if waits else "0"
        out.append([name, f"{statistics.median(times):.2f}", host, f"{sum(reads)} of {len(reads)}" if reads else "none"])
    table(["a2a-3436", "ms a step", "ms a step that the host waits", "host reads that were right"], out)


def lookups(interlace):
    out = []
    for name in ("dp_mp_serial", "dp_mp_overlap", "dp_mp_racy"):
        run = load(f"dp_mp_{name}.json")
        times = run["ranks"][0]["step_ms"][run["warmup"] + 1:run["warmup"] + run["timed_steps"]]
        found = kernels(events_of(interlace, f"{name}.ilt"), "sum_bags")
        pairs = list(zip(found[0::2], found[1::2]))
        shared = statistics.median(beside(a, b) for a, b in pairs) / 1000
        both = statistics.median(a["dur"] + b["dur"] for a, b in pairs) / 1000
        streams = len({e["tid"] for e in found})
        out.append([name, f"{statistics.median(times):.2f}", streams, f"{both:.2f}", f"{shared:.3f}"])
    table(["dp-mp-317", "ms a step", "streams of the lookups", "ms that both take", "of these at once"], out)


def bandwidth(interlace):
    """t6 on one of two ranks: 30 tables of each module, the bags of both ranks, 40 ids a bag on average, rows of 64."""
    copy = load("copy_bandwidth.json")["GB_s"]
    ids, bags, row = 30 * 2 * 16384 * 40, 30 * 2 * 16384, 64 * 4
    events = events_of(interlace, "t6_base.ilt")
    moved = {"sum_bags": ids * (row + 8 + 2) + bags * row, "update_rows<": ids * (row + 8) + 2 * 30 * 100000 * row}
    out = [["copy of 4 GiB on the device", "", f"{copy:.0f}", "100 %"]]
    for word, size in moved.items():
        time = statistics.median(e["dur"] for e in kernels(events, word))
        rate = size / time / 1e3
        out.append([word.rstrip("<"), f"{time / 1000:.2f}", f"{rate:.0f}", f"{100 * rate / copy:.0f} %"])
    table(["t6, base", "ms", "GB/s asked for", "of the copy"], out)


def main():
    interlace = sys.argv[1]
    seed_2916()
    steps("t6 with NCCL_P2P_DISABLE=1", "t6_no_p2p.json")
    steps("exposed", "exposed.json")
    steps("host-bound", "host_bound.json")
    steps("inplace-3526", "seed_3526.json")
    messages(interlace)
    lookups(interlace)
    bandwidth(interlace)


main()
