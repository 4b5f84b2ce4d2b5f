#!/usr/bin/env python3
"""Writes the tables of `seeds/`, `aligned/` and `quiet/` to standard output: tables.py INTERLACE, the program that reads
recordings."""
import json
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "seeds"
ALIGNED = HERE.parent / "aligned"
QUIET = HERE.parent / "quiet"


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


def events_of(interlace, recording, folder_of=HERE):
    return events_in(interlace, folder_of / "recordings" / recording)


def events_in(interlace, file):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "trace.json"
        command = [interlace, "--quiet", "convert", str(file), "-o", str(out)]
        subprocess.run(command, check=True)
        return json.loads(out.read_text())["traceEvents"]


def kernels(events, word):
    return [e for e in events if e.get("cat") == "kernel" and word in e["name"]]


def beside(one, other):
    return max(0.0, min(one["ts"] + one["dur"], other["ts"] + other["dur"]) - max(one["ts"], other["ts"]))


# ms of a run, GB allocated and reserved, as #2916 tells them.
SAID_2916 = {
    "semi_sync": (5447, 61.63, 64.31),
    "fused_sparse_dist_new_stream": (5606, 53.23, 68.61),
    "fused_sparse_dist_before_optimizer": (5662, 53.23, 68.67),
    "sparse_dist": (6034, 51.80, 62.25),
}


def seed_2916():
    said = SAID_2916
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


def aligned_steps():
    """The mean step of each run; the least and the most of the runs beside their median."""
    runs = json.loads((ALIGNED / "runs.json").read_text())
    for workload, p2p in (("t6", True), ("t6", False), ("exposed", True), ("t9", True)):
        out = []
        for schedule in ("base", "sparse_dist", "fused_sparse_dist_new_stream", "semi_sync"):
            row = [schedule]
            for exchanges in ("before", "after"):
                of = [r for r in runs if (r["workload"], r["p2p"], r["exchanges"]) == (workload, p2p, exchanges)
                      and r["schedule"] == "torchrec/" + schedule]
                if not of:
                    continue
                means = [1000 * r["seconds"] / r["timed_steps"] for r in of]
                row += [f"{statistics.median(means):.2f}", f"{min(means):.2f} to {max(means):.2f}",
                        f"{max(r['peak_reserved_bytes'] for r in of) / 1e9:.2f}"]
            out.append(row)
        if workload == "t9":
            table(["t9, four ranks, over NVLink", "ms a step", "runs", "GB reserved"], out)
        else:
            head = workload if p2p else workload + " with NCCL_P2P_DISABLE=1"
            table([head, "ms a step before", "runs", "GB reserved", "ms a step after", "runs", "GB reserved"], out)


def merged(operations):
    spans = []
    for e in sorted(operations, key=lambda e: e["ts"]):
        if spans and e["ts"] <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], e["ts"] + e["dur"])
        else:
            spans.append([e["ts"], e["ts"] + e["dur"]])
    return spans


def within(spans, begin, end):
    return [(max(a, begin), min(b, end)) for a, b in spans if a < end and b > begin]


def length(spans):
    return sum(b - a for a, b in spans)


def shared(one, other):
    return sum(length(within(other, a, b)) for a, b in one)


def occupation(interlace):
    out = []
    for name in ("before_sparse_dist", "before_semi_sync", "after_base", "after_sparse_dist", "after_semi_sync",
                 "after_fused_sparse_dist_new_stream"):
        # Four steps, each of the four batches once.
        out.append([name.replace("_", " ", 1)] + occupied(events_of(interlace, name + ".ilt", ALIGNED), 1, 5))
    table(["t6 with NCCL_P2P_DISABLE=1", *OCCUPIED], out)


OCCUPIED = ("step", "exchanges", "compute", "copies of batches", "exchanges beside compute", "exchanges beside copies")


def occupied(events, first, last):
    """Milliseconds a step, between the dense optimizer's kernels of these numbers."""
    ends = sorted(e["ts"] for e in kernels(events, "descend"))
    begin, end = ends[first], ends[last]
    device = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy")]
    exchanges = within(merged([e for e in device if "nccl" in e["name"]]), begin, end)
    copies = within(merged([e for e in device if "HtoD" in e["name"]]), begin, end)
    compute = within(merged([e for e in device if e["cat"] == "kernel" and "nccl" not in e["name"]]), begin, end)
    times = [end - begin, length(exchanges), length(compute), length(copies), shared(exchanges, compute),
             shared(exchanges, copies)]
    return [f"{t / 1000 / (last - first):.1f}" for t in times]


def exchanges(interlace):
    out = []
    for name in ("before_semi_sync", "after_semi_sync"):
        found = kernels(events_of(interlace, name + ".ilt", ALIGNED), "SendRecv")
        for what, low, high in (("ids", 3.1e8, 3.2e8), ("weights", 1.5e8, 1.6e8)):
            times = sorted(e["dur"] / 1000 for e in found if low < e["args"]["In msg nelems"] < high)
            out.append([what + ", " + name.split("_")[0], f"{statistics.median(times):.1f}", f"{times[0]:.1f} to {times[-1]:.1f}"])
    table(["t6 with NCCL_P2P_DISABLE=1, semi_sync", "median ms", "all"], out)


def findings(interlace):
    """What #2916 asks of its schedules. From the end of the last update of tables to what comes next."""
    out = []
    for name in ("exposed_sparse_dist", "exposed_fused_sparse_dist_new_stream", "after_sparse_dist",
                 "after_fused_sparse_dist_new_stream"):
        events = events_of(interlace, name + ".ilt", ALIGNED)
        optimizers, updates = sorted(kernels(events, "descend"), key=lambda e: e["ts"]), kernels(events, "update_rows<")
        looked_up = sorted(kernels(events, "sum_bags"), key=lambda e: e["ts"])
        compute = [e for e in events if e.get("cat") == "kernel" and "nccl" not in e["name"]]
        to_optimizer, to_lookup, at_once = [], [], []
        for optimizer in optimizers[1:-1]:
            ended = [e["ts"] + e["dur"] for e in updates if e["ts"] < optimizer["ts"] + optimizer["dur"]]
            next_lookup = [e for e in looked_up if ended and e["ts"] >= max(ended) - 1]
            if not next_lookup:
                continue
            to_optimizer.append(optimizer["ts"] - max(ended))
            to_lookup.append(next_lookup[0]["ts"] - max(ended))
            at_once.append(sum(beside(optimizer, e) for e in looked_up))
        begin, end = optimizers[0]["ts"], optimizers[-1]["ts"]
        busy = within(merged(compute), begin, end)
        idle = [(a[1], b[0]) for a, b in zip(busy, busy[1:])]
        filled = shared(idle, merged([e for e in events if e.get("cat") == "kernel" and "nccl" in e["name"]]))
        steps = len(optimizers) - 1
        waits = [e["dur"] for e in events if e.get("cat") == "cuda_runtime" and e["name"].startswith("cudaEventSynchronize")
                 and begin <= e["ts"] < end]
        row = [name.replace("after", "t6 without P2P").replace("_", " ", 1), f"{(end - begin) / steps / 1000:.1f}"]
        row += [f"{statistics.median(v):.0f}" for v in (to_lookup, to_optimizer, at_once)]
        row += [f"{v / steps / 1000:.2f}" for v in (length(idle), filled, sum(waits))]
        out.append(row)
    table(["recorded", "ms a step", "us from update to lookup", "us from update to optimizer",
           "us of optimizer beside lookup", "ms without compute", "of it under exchanges", "ms that the host waits"], out)


def bandwidth(interlace):
    """t6 on one of two ranks: 30 tables of each module, the bags of both ranks, 40 ids a bag on average, rows of 64."""
    copy = load("copy_bandwidth.json")["GB_s"]
    ids, bags, row = 30 * 2 * 16384 * 40, 30 * 2 * 16384, 64 * 4
    moved = {"sum_bags": ids * (row + 8 + 2) + bags * row, "update_rows<": ids * (row + 8) + 2 * 30 * 100000 * row}
    for title, events in (("t6, base", events_of(interlace, "t6_base.ilt")),
                          ("t6, sparse_dist, the new update", events_of(interlace, "t6_sparse_dist.ilt", ALIGNED))):
        out = [["copy of 4 GiB on the device", "", f"{copy:.0f}", "100 %"]]
        for word, size in moved.items():
            time = statistics.median(e["dur"] for e in kernels(events, word))
            rate = size / time / 1e3
            out.append([word.rstrip("<"), f"{time / 1000:.2f}", f"{rate:.0f}", f"{100 * rate / copy:.0f} %"])
        table([title, "ms", "GB/s asked for", "of the copy"], out)


class Packed:
    """The files of one of `quiet/`: one result a run, SCHEDULE.REPEAT.json, and rank 0's recordings."""

    def __init__(self, name):
        self._folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self._folder.name)
        with tarfile.open(QUIET / (name + ".tar.xz")) as tar:
            tar.extractall(self.path, filter="data")

    def runs(self):
        """By schedule, in the order of the names."""
        runs = {}
        for file in sorted(self.path.glob("*.[0-9].json")):
            runs.setdefault(file.name.split(".")[0], []).append(json.loads(file.read_text()))
        return runs


def mean_step(run):
    return 1000 * run["seconds"] / run["timed_steps"]


def peak(run, kind):
    return max(rank[f"peak_{kind}_bytes"] for rank in run["ranks"]) / 1e9


def quiet_steps(title, packed, order):
    """The mean step of each run: of whole rounds of the batches."""
    runs = packed.runs()
    last = statistics.median(mean_step(run) for run in runs["sparse_dist"])
    out = []
    for name in order:
        steps = [mean_step(run) for run in runs[name]]
        step = statistics.median(steps)
        out.append([name, f"{step:.2f}", f"{min(steps):.2f} to {max(steps):.2f}", len(steps), f"{100 * (step / last - 1):+.1f} %",
                    f"{max(peak(run, 'allocated') for run in runs[name]):.2f}",
                    f"{max(peak(run, 'reserved') for run in runs[name]):.2f}"])
    table([title, "ms a step", "least to most", "runs", "beside sparse_dist", "GB allocated", "GB reserved"], out)


def quiet_2916(packed):
    runs = packed.runs()
    last, last_said = statistics.median(mean_step(run) for run in runs["sparse_dist"]), SAID_2916["sparse_dist"][0]
    out = []
    for name, (time, allocated, reserved) in SAID_2916.items():
        steps = [mean_step(run) for run in runs[name]]
        step = statistics.median(steps)
        out.append([name, f"{step:.1f}", f"{min(steps):.1f} to {max(steps):.1f}", f"{100 * (step / last - 1):+.1f} %",
                    f"{100 * (time / last_said - 1):+.1f} %", f"{max(peak(run, 'allocated') for run in runs[name]):.1f}",
                    f"{allocated:.1f}", f"{max(peak(run, 'reserved') for run in runs[name]):.1f}", f"{reserved:.1f}"])
    table(["torchrec-2916, quiet", "ms a step", "least to most", "beside sparse_dist", "there", "GB allocated", "there",
           "GB reserved", "there"], out)


def reach(values, digits=0):
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def quiet_findings(interlace, packed):
    """What #2916 asks, of each recorded step, from the end of its last update of tables."""
    out = []
    for name in SAID_2916:
        events = events_in(interlace, packed.path / (name + ".rank0.ilt"))
        launches = {e["id"]: e["ts"] for e in events if e.get("ph") == "s"}
        launch_of = {(e["tid"], e["ts"]): launches[e["id"]] for e in events if e.get("ph") == "f" and e["id"] in launches}
        in_order = [sorted(kernels(events, word), key=lambda e: e["ts"]) for word in ("update_rows<", "sum_bags", "descend")]
        updates, lookups, optimizers = in_order
        to_lookup, ahead, to_optimizer, beside_lookup = [], [], [], []
        for update in updates[1::2]:  # of two modules
            end = update["ts"] + update["dur"]
            lookup = next((e for e in lookups if e["ts"] > update["ts"]), None)
            optimizer = next((e for e in optimizers if e["ts"] > update["ts"]), None)
            if lookup is None or optimizer is None:
                continue
            to_lookup.append(lookup["ts"] - end)
            ahead.append((end - launch_of[lookup["tid"], lookup["ts"]]) / 1000)
            to_optimizer.append(optimizer["ts"] - end)
            beside_lookup.append(sum(beside(optimizer, e) for e in lookups))
        begin, end = optimizers[0]["ts"], optimizers[-1]["ts"]
        busy = within(merged([e for e in events if e.get("cat") == "kernel" and "nccl" not in e["name"]]), begin, end)
        idle = [(a[1], b[0]) for a, b in zip(busy, busy[1:])]
        filled = shared(idle, merged(kernels(events, "nccl")))
        steps = 1000 * (len(optimizers) - 1)
        out.append([name, reach(to_lookup), reach(ahead, 1), reach(to_optimizer), reach([e["dur"] for e in optimizers]),
                    reach(beside_lookup), f"{length(idle) / steps:.1f}", f"{filled / steps:.1f}"])
    table(["torchrec-2916, recorded", "us from update to lookup", "ms that its launch is before the update's end",
           "us from update to optimizer", "us of the optimizer", "of these beside a lookup", "ms a step without compute",
           "of these under exchanges"], out)


def quiet_messages():
    out = []
    for name, runs in Packed("a2a").runs().items():
        reads = [v["passed"] for run in runs for v in run["validations"] if v["mode"] != "compute"]
        steps = [mean_step(run) for run in runs]
        out.append([name, f"{min(steps):.2f} to {max(steps):.2f}", f"{max(peak(run, 'reserved') for run in runs):.2f}",
                    f"{sum(reads)} of {len(reads)}" if reads else "none"])
    table(["a2a-3436", "ms a step", "GB reserved", "host reads that were right"], out)


def quiet_occupation(interlace, title, packed, names, first, last):
    """The last steps of a recording have no batch to copy."""
    out = [[name, *occupied(events_in(interlace, packed.path / (name + ".rank0.ilt")), first, last)] for name in names]
    table([title, *OCCUPIED], out)


def quiet_fbgemm():
    """On rank 0, by the events of --profile. An operator's time counts with what is around it."""
    out = []
    packed = Packed("fbgemm")
    runs = {file.name[:-len(".json")]: json.loads(file.read_text()) for file in sorted(packed.path.glob("*.json"))}
    for name, run in runs.items():
        _, schedule, kernels_of = name.split(".")
        profile = {line["name"]: line["device_ms_a_step"] for line in run["ranks"][0]["profile"]}
        sorting = f"{profile['sort rows']:.2f}" if "sort rows" in profile else "in the updates"
        own = runs[f"t6.{schedule}.own"]["losses"]
        out.append([f"{schedule}, {kernels_of}", f"{mean_step(run):.2f}", f"{profile['embedding_lookup']:.2f}", sorting,
                    f"{profile['update rows']:.2f}", f"{peak(run, 'reserved'):.2f}",
                    f"{max(abs(a - b) for a, b in zip(own, run['losses'])):.0e}"])
    table(["t6, profiled", "ms a step", "ms of lookups", "ms of sorting rows", "ms of updates", "GB reserved", "loss beside own, at most"], out)


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
    aligned_steps()
    exchanges(interlace)
    occupation(interlace)
    findings(interlace)
    no_p2p = Packed("t6_no_p2p")
    schedules = ("sparse_dist", "fused_sparse_dist_new_stream", "semi_sync")
    quiet_steps("t6 with NCCL_P2P_DISABLE=1, quiet", no_p2p, (*schedules, "semi_together"))
    quiet_occupation(interlace, "t6 with NCCL_P2P_DISABLE=1, quiet", no_p2p, schedules, 0, 2)
    ids_first = Packed("t6_ids_first")
    quiet_steps("t6 with NCCL_P2P_DISABLE=1, later", ids_first, ("sparse_dist", "semi_sync", "semi_ids_first"))
    quiet_occupation(interlace, "t6 with NCCL_P2P_DISABLE=1, later", ids_first, ("sparse_dist", "semi_ids_first"), 1, 5)
    quiet_fbgemm()
    quiet_messages()
    seed = Packed("torchrec_2916")
    quiet_2916(seed)
    quiet_findings(interlace, seed)


main()
