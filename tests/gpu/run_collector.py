"""Tests and measures `interlace record` on a machine with NVIDIA GPUs.

    python3 run_collector.py --tests FOLDER --out FOLDER [--part NAME ...] [--budget SECONDS]

FOLDER of the tests: what build.sh made. Parts: environment, launches, mixed, ends, kill, torch, benchmark_launches,
benchmark_threads, benchmark_graph, benchmark_busy, benchmark_torch, torchrun (needs 2 GPUs), soak (not run unless
named). Each part runs on its own, prints PASS or FAIL for each thing it checks, and has a time limit; what is left of
the budget bounds the repetitions. Results: results.json, report.txt, samples.tar.gz in the output folder.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback

DEFAULT_PARTS = ["environment", "launches", "mixed", "ends", "kill", "torch", "benchmark_launches",
                 "benchmark_threads", "benchmark_graph", "benchmark_busy", "benchmark_torch"]
LEDGER = re.compile(r"([\d,]+) launched = ([\d,]+) recorded \+ ([\d,]+) untimed \+ ([\d,]+) refused \+ "
                    r"([\d,]+) undelivered")


class Run:
    """Where things are, what was found so far, and how much time is left."""

    def __init__(self, args):
        self.tests = os.path.abspath(args.tests)
        self.out = os.path.abspath(args.out)
        self.work = tempfile.mkdtemp(prefix="collector_")
        self.samples = os.path.join(self.work, "samples")
        os.makedirs(self.samples)
        os.makedirs(self.out, exist_ok=True)
        self.deadline = time.monotonic() + args.budget
        self.soak_seconds = args.soak_seconds
        self.results = {"command": " ".join(sys.argv), "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
                        "parts": {}, "checks": []}
        self.report = open(os.path.join(self.out, "report.txt"), "w", encoding="utf-8")
        self.cupti = args.cupti or find_cupti()
        self.part = ""

    def bin(self, name):
        return os.path.join(self.tests, "bin", name)

    def left(self):
        return self.deadline - time.monotonic()

    def say(self, text):
        print(text, flush=True)
        self.report.write(text + "\n")
        self.report.flush()

    def check(self, what, passed, detail=""):
        self.results["checks"].append({"part": self.part, "what": what, "passed": bool(passed), "detail": str(detail)})
        self.say(f"  {'PASS' if passed else 'FAIL'} {what}{': ' + str(detail) if detail != '' else ''}")
        return passed

    def keep(self, **values):
        self.results["parts"].setdefault(self.part, {}).update(values)
        self.save()

    def save(self):
        with open(os.path.join(self.out, "results.json"), "w", encoding="utf-8") as file:
            json.dump(self.results, file, indent=1)


def find_cupti():
    """The folder of libcupti.so.13 on this machine: that of the interpreter's wheels, else that of the toolkit."""
    places = [os.path.join(path, "nvidia", "**", "libcupti.so.13") for path in sys.path if path]
    places += ["/usr/local/cuda*/**/libcupti.so.13"]
    for place in places:
        for found in sorted(glob.glob(place, recursive=True)):
            return os.path.dirname(found)
    return ""


def execute(run, command, limit=60, more_environment=None):
    """Runs a command; gives (status, output, errors). 124 where it ran past its limit."""
    environment = dict(os.environ, **(more_environment or {}))
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                   start_new_session=True, errors="replace")
    except OSError as error:
        return 127, "", str(error)
    try:
        out, err = process.communicate(timeout=max(5, min(limit, run.left() + 20)))
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return 124, out, err + f"\nended after {limit} s"


def record(run, name, command, options=(), limit=60, environment=None):
    """`interlace record` over the command; gives its status, output, summary and folder."""
    folder = os.path.join(run.work, name)
    shutil.rmtree(folder, ignore_errors=True)
    more = {"LD_LIBRARY_PATH": run.cupti} if run.cupti else {}
    more.update(environment or {})
    status, out, err = execute(run, [run.bin("interlace-record"), "--out", folder, *options, "--", *command], limit,
                               more)
    return {"status": status, "out": out, "err": err, "folder": folder}


def raw(run, kinds, command, limit=60, **settings):
    environment = {"CUDA_INJECTION64_PATH": os.path.join(run.tests, "lib", "libraw_cupti.so"),
                   "LD_LIBRARY_PATH": run.cupti, "RAW_CUPTI_KINDS": kinds}
    environment.update({"RAW_CUPTI_" + key.upper(): str(value) for key, value in settings.items()})
    return execute(run, command, limit, environment)


def ledgers(recording):
    return [[int(cell.replace(",", "")) for cell in row] for row in LEDGER.findall(recording["err"])]


def json_line(text):
    """The last line of the output that is JSON."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise ValueError("no line of JSON in: " + text[-500:])


def timed(result):
    """What a program of the benchmarks measured."""
    status, out, err = result
    if status != 0:
        raise ValueError(f"ended with {status}: {err[-500:]}")
    return json_line(out)


def info(run, folder):
    status, out, err = execute(run, [run.bin("interlace"), "info", "--format", "json", folder], 120,
                               {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib")})
    if status != 0:
        raise ValueError(f"interlace info ended with {status}: {err[-500:]}")
    return json.loads(out)


def convert(run, folder):
    """The operations of a recording, as the events of a Chrome trace."""
    file = folder + ".json"
    status, _, err = execute(run, [run.bin("interlace"), "convert", "-o", file, folder], 120,
                             {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib")})
    if status != 0:
        raise ValueError(f"interlace convert ended with {status}: {err[-500:]}")
    return file


def keep_sample(run, recording, name):
    """Puts a small recording among the samples, for tests without a GPU."""
    for file in glob.glob(os.path.join(recording["folder"], "*.ilt")):
        if os.path.getsize(file) < 4_000_000:
            shutil.copy(file, os.path.join(run.samples, f"{name}_{os.path.basename(file)}"))


def check_whole(run, recording, what, launched=None):
    """That the program ended well and that all it launched is in the file."""
    rows = ledgers(recording)
    good = recording["status"] == 0 and len(rows) >= 1 and all(row[0] == row[1] for row in rows)
    good = good and "NOT OK" not in recording["err"]
    if launched is not None:
        good = good and sum(row[0] for row in rows) == launched
    detail = f"status {recording['status']}, ledger {rows}" + (f", {launched} launched" if launched else "")
    if not good:
        detail += "\n" + recording["err"][-1500:] + recording["out"][-300:]
    return run.check(f"{what}: ledger closed", good, detail)


def check_info(run, recording, what):
    """Losses and warnings that `interlace info` tells of, beside the table itself."""
    try:
        answer = info(run, recording["folder"])
    except (ValueError, json.JSONDecodeError) as error:
        run.check(f"{what}: interlace info", False, error)
        return None
    flaws = {one["code"]: one["count"] for one in answer["diagnostics"] if one["severity"] != "info"}
    run.check(f"{what}: interlace info", not any(one["severity"] == "data loss" for one in answer["diagnostics"]),
              f"{answer['operations']}, flaws {flaws}")
    return answer


# Parts: correctness


def part_environment(run):
    _, gpu, _ = execute(run, ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,pci.bus_id",
                              "--format=csv,noheader"])
    _, cpu, _ = execute(run, ["sh", "-c", "nproc; grep -m1 'model name' /proc/cpuinfo; uname -r"])
    _, torch, _ = execute(run, [sys.executable, "-c", "import torch; print(torch.__version__, torch.cuda.nccl.version())"])
    run.keep(gpu=gpu.strip().splitlines(), cpu=cpu.strip().splitlines(), torch=torch.strip(), cupti_folder=run.cupti,
             python=sys.version)
    run.say(f"  {gpu.strip()}\n  {cpu.strip()}\n  torch {torch.strip()}\n  libcupti in {run.cupti}")
    found = record(run, "found", [run.bin("ways_to_end"), "return"], environment={"LD_LIBRARY_PATH": ""})
    run.check("libcupti is found without help", "200 launched = 200 recorded" in found["err"], found["err"][-800:])
    libraries = {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib") + ":" + run.cupti}
    status, _, err = execute(run, [run.bin("interlace"), "record", "--out", os.path.join(run.work, "as_subcommand"), "--",
                                   run.bin("ways_to_end"), "return"], 60, libraries)
    run.check("interlace record runs as a subcommand", status == 0 and "200 recorded" in err, err[-800:])


def part_launches(run):
    count = 200_000
    recording = record(run, "launches", [run.bin("launch_loop"), "empty", str(count)])
    check_whole(run, recording, "empty kernels", count + 20_000)
    answer = check_info(run, recording, "empty kernels")
    if answer:
        run.check("empty kernels: all in the file", answer["operations"]["kernel"] == count + 20_000,
                  answer["operations"])
        size = os.path.getsize(os.path.join(recording["folder"], "rank0.ilt"))
        run.check("file is at most 25 bytes a kernel, calls included", size <= 25 * (count + 20_000),
                  f"{size / (count + 20_000):.2f} bytes a kernel")
        run.keep(bytes_a_kernel=size / (count + 20_000), operations=answer["operations"])
    light = record(run, "launches_light", [run.bin("launch_loop"), "empty", str(count)], ["--light"])
    check_whole(run, light, "empty kernels, light", count + 20_000)
    threads = record(run, "launches_threads", [run.bin("launch_loop"), "threads", "100000"])
    check_whole(run, threads, "empty kernels of 4 threads", 100_000)
    graph = record(run, "launches_graph", [run.bin("launch_loop"), "graph", "200000"])
    check_whole(run, graph, "graphs of 1000 nodes")
    answer = check_info(run, graph, "graphs of 1000 nodes")
    if answer:
        run.check("graphs: every node in the file", answer["operations"]["kernel"] == 220_000, answer["operations"])


def part_mixed(run):
    recording = record(run, "mixed", [run.bin("mixed_work")])
    keep_sample(run, recording, "mixed")
    expected = json_line(recording["out"])
    check_whole(run, recording, "mixed work", expected["launches"])
    answer = check_info(run, recording, "mixed work")
    if not answer:
        return
    found = answer["operations"]
    for ours, theirs in (("kernel", "kernels"), ("copy", "copies"), ("memset", "memsets"),
                         ("event_record", "event_records"), ("stream_wait", "stream_waits")):
        run.check(f"mixed work: {theirs}", found[ours] == expected[theirs], f"{found[ours]} of {expected[theirs]}")
    with open(convert(run, recording["folder"]), encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    waits = [one for one in events if one.get("name", "").startswith("cudaStreamWaitEvent") and one.get("ph") == "X"]
    joined = [one for one in waits if "recorded on" in one.get("args", {})]
    run.check("mixed work: waits joined with their records", len(joined) == expected["stream_waits"],
              f"{len(joined)} of {len(waits)}")
    ranges = {}
    for one in events:
        if one.get("cat") == "user_annotation":
            ranges[one["name"]] = ranges.get(one["name"], 0) + 1
    wanted = {"round": expected["rounds"], "copy": expected["rounds"], "compute": expected["rounds"], "registered": 1,
              "mark": 1}
    run.check("mixed work: NVTX ranges and marks", all(ranges.get(name) == count for name, count in wanted.items()),
              ranges)
    allocations = found.get("allocation", 0)
    run.check("mixed work: allocations", allocations >= expected["mallocs"],
              f"{allocations} of at least {expected['mallocs']}")
    light = record(run, "mixed_light", [run.bin("mixed_work")], ["--light"])
    check_whole(run, light, "mixed work, light", expected["launches"])
    keep_sample(run, light, "mixed_light")


def part_ends(run):
    program = run.bin("ways_to_end")
    for way, status, launched in (("return", 0, 200), ("unsynchronised", 0, 200), ("device_reset", 0, 200),
                                  ("fork_after", 0, 200), ("fork_before", 0, 300)):
        recording = record(run, way, [program, way])
        check_whole(run, recording, way, launched)
    files = glob.glob(os.path.join(run.work, "fork_before", "*.ilt"))
    run.check("fork_before: a file for each process", len(files) == 2, files)
    running = record(run, "running", [program, "running"])
    rows = ledgers(running)
    run.check("ends while a kernel runs", running["status"] == 0 and rows and rows[0][0] == 201 and rows[0][1] >= 200,
              f"status {running['status']} {rows} {running['err'][-300:]}")
    for way, status in (("_exit", 7), ("abort", -signal.SIGABRT), ("exec", 0)):
        recording = record(run, way, [program, way])
        rows = ledgers(recording)
        good = recording["status"] == status and rows and rows[0][1] == 200
        run.check(f"{way}: all before the last flush is there", good,
                  f"status {recording['status']} {rows}" + ("" if good else recording["err"][-800:]))
        check_readable(run, recording, way)
    term = run_until_signal(run, "term", signal.SIGTERM)
    run.check("SIGTERM: the program ends by it, the file is whole",
              term["status"] == -signal.SIGTERM and term["recorded"] > 0,
              f"status {term['status']}, {term['recorded']} of {term['launched']} kernels, {term['loss_ms']:.1f} ms lost")
    check_readable(run, term, "SIGTERM")


def check_readable(run, recording, what):
    try:
        info(run, recording["folder"])
        run.check(f"{what}: the file can be read", True)
    except (ValueError, json.JSONDecodeError) as error:
        run.check(f"{what}: the file can be read", False, error)


def run_until_signal(run, name, number, seconds=2.0, options=()):
    """Records a program that launches for ever and ends it by a signal; tells what of it is missing."""
    folder = os.path.join(run.work, name)
    progress = os.path.join(run.work, name + ".progress")
    shutil.rmtree(folder, ignore_errors=True)
    environment = dict(os.environ, LD_LIBRARY_PATH=run.cupti)
    process = subprocess.Popen([run.bin("interlace-record"), "--out", folder, *options, "--",
                                run.bin("ways_to_end"), "run", progress], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment)
    began = time.monotonic()
    while time.monotonic() - began < 20 and not (os.path.exists(progress) and os.path.getsize(progress) >= 24
                                                 and progress_of(progress)[1] > 0):
        time.sleep(0.05)
    time.sleep(seconds)
    program = child_of(process.pid)
    os.kill(program, number)
    try:
        _, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
    last, launched, begin = progress_of(progress)
    rows = ledgers({"err": err})
    recorded = rows[0][1] if rows else 0
    # The program launches at a steady rate: what is missing tells how much of the timeline is.
    loss = max(0, launched - recorded) * (last - begin) / max(1, launched) / 1e6
    return {"status": process.returncode, "err": err, "out": "", "folder": folder, "launched": launched,
            "recorded": recorded, "loss_ms": loss}


def progress_of(file):
    with open(file, "rb") as data:
        return struct.unpack("<qqq", data.read(24))


def parent_of(process):
    with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as text:
        return int(text.read().rpartition(")")[2].split()[1])


def child_of(process):
    """The recorded program: the innermost process below the launcher."""
    while True:
        children = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if parent_of(name) == process:
                    children.append(int(name))
            except (OSError, IndexError):
                continue  # it has ended meanwhile
        if not children:
            return process
        process = children[0]


def part_kill(run):
    losses = []
    for number in range(5):
        killed = run_until_signal(run, f"kill{number}", signal.SIGKILL, 1.0)
        losses.append({"launched": killed["launched"], "recorded": killed["recorded"], "loss_ms": killed["loss_ms"]})
        if number == 0:
            check_readable(run, killed, "SIGKILL")
    run.keep(losses=losses)
    worst = max(one["loss_ms"] for one in losses)
    run.check("SIGKILL loses at most 50 ms", worst <= 50 and all(one["recorded"] > 0 for one in losses),
              ", ".join(f"{one['loss_ms']:.1f} ms ({one['recorded']} of {one['launched']})" for one in losses))


def part_torch(run):
    steps = 50
    script = os.path.join(run.tests, "torch_mlp.py")
    base = [sys.executable, script, "--steps", str(steps), "--bracket"]
    kineto_file = os.path.join(run.work, "kineto.json")
    status, out, err = execute(run, base + ["--profile", "kineto", "--trace", kineto_file], 90)
    run.check("PyTorch under Kineto", status == 0, (out + err)[-400:])
    recording = record(run, "torch", base, limit=120)
    run.check("PyTorch under interlace record", recording["status"] == 0, (recording["out"] + recording["err"])[-600:])
    check_whole(run, recording, "PyTorch")
    answer = check_info(run, recording, "PyTorch")
    keep_sample(run, recording, "torch_mlp")
    if answer:
        run.keep(operations=answer["operations"], diagnostics=answer["diagnostics"])
    file = convert(run, recording["folder"])
    status, out, err = execute(run, [sys.executable, os.path.join(run.tests, "compare_kineto.py"), kineto_file, file,
                                     str(steps)], 60)
    if not run.check("PyTorch: comparison with Kineto runs", status == 0, err[-500:]):
        return
    answer = json.loads(out)
    run.keep(comparison=answer)
    run.check("PyTorch: same operations in the same order as Kineto", answer["same_operations"], answer["compared"])
    ratio = answer.get("total_ratio", 0)
    run.check("PyTorch: durations within 2 % of Kineto's", abs(ratio - 1) <= 0.02,
              f"total {ratio:.4f}, {answer.get('places_within_2_percent')} of {answer.get('places')} places of a step")
    light = record(run, "torch_light", base, ["--light"], limit=120)
    check_whole(run, light, "PyTorch, light")


# Parts: benchmarks


def options_known(run):
    """What `interlace record` of this build offers."""
    _, out, _ = execute(run, [run.bin("interlace-record"), "--help"])
    return out


def measure(run, configurations, key, least_rounds=5, most_rounds=9, seconds=100):
    """Runs all configurations one after the other, round by round, so that a drift of the machine meets all of them
    alike. Gives each one's median and its values."""
    values = {name: [] for name in configurations}
    end = time.monotonic() + seconds
    for number in range(most_rounds):
        if number >= least_rounds and time.monotonic() > end:
            break
        if run.left() < 10:
            run.say(f"  the budget ends after {number} rounds")
            break
        for name, start in configurations.items():
            try:
                values[name].append(start()[key])
            except (ValueError, KeyError) as error:
                run.say(f"  {name}: {error}")
    return {name: {"median": statistics.median(found), "values": found} if found else {"median": None, "values": []}
            for name, found in values.items()}


def show(run, results, base="bare"):
    begin = results[base]["median"]
    for name, one in results.items():
        if one["median"] is None:
            run.say(f"    {name:28} none")
            continue
        added = one["median"] - begin
        run.say(f"    {name:28} {one['median']:10.2f}  {added:+9.2f}  {added / begin * 100:+6.1f} %  "
                f"({min(one['values']):.2f} to {max(one['values']):.2f}, {len(one['values'])} runs)")


def added(results, name, base="bare"):
    return results[name]["median"] - results[base]["median"]


def launch_configurations(run, mode, count, names):
    command = [run.bin("launch_loop"), mode, str(count)]
    interlace = {"interlace full": [], "interlace light": ["--light"], "interlace graph mode": ["--graphs", "whole"],
                 "interlace light graph mode": ["--light", "--graphs", "whole"]}

    def bare():
        return timed(execute(run, command))

    def with_raw(kinds, **settings):
        return lambda: timed(raw(run, kinds, command, **settings))

    def with_interlace(options):
        return lambda: timed(list(record(run, "benchmark", command, options).values())[:3])

    raws = {"raw no kinds": ("none", {}), "raw kernels": ("kernels", {}), "raw kernels cleared": ("kernels", {"zeroed": 1}),
            "raw kernels cleared shared": ("kernels", {"zeroed": 1, "per_thread": 0}),
            "raw kernels+runtime": ("kernels_runtime", {}), "raw light": ("light", {}),
            "raw light cleared": ("light", {"zeroed": 1}), "raw all": ("all", {}), "raw all cleared": ("all", {"zeroed": 1}),
            "raw all flushed": ("all", {"flush_ms": 20})}
    configurations = {"bare": bare}
    for name in names:
        if name in raws:
            configurations[name] = with_raw(raws[name][0], **raws[name][1])
        else:
            configurations[name] = with_interlace(interlace[name])
    return configurations


def part_benchmark_launches(run):
    names = ["raw no kinds", "raw kernels", "raw kernels cleared", "raw kernels cleared shared", "raw kernels+runtime",
             "raw light", "raw light cleared", "raw all", "raw all cleared", "raw all flushed", "interlace full",
             "interlace light"]
    results = measure(run, launch_configurations(run, "empty", 200_000, names), "ns_each", seconds=110)
    run.keep(ns_a_launch=results)
    run.say("  empty kernels, ns a launch")
    show(run, results)
    full, all_raw, light = added(results, "interlace full"), added(results, "raw all"), added(results, "interlace light")
    run.check("launch-bound: full adds no more than raw CUPTI + 5 %", full <= all_raw * 1.05,
              f"{full:.0f} ns against {all_raw:.0f} ns ({full / all_raw * 100 - 100:+.1f} %)")
    run.check("launch-bound: light adds at most 700 ns", light <= 700, f"{light:.0f} ns")


def part_benchmark_threads(run):
    results = measure(run, launch_configurations(run, "threads", 200_000, ["raw all", "interlace full"]), "ns_each",
                      most_rounds=5, seconds=20)
    run.say("  empty kernels of 4 threads, ns a launch")
    show(run, results)
    events = measure(run, launch_configurations(run, "events", 100_000, ["raw all", "interlace full", "interlace light"]),
                     "ns_each", most_rounds=5, seconds=20)
    run.say("  launch + event record + wait, ns each")
    show(run, events)
    run.keep(ns_a_launch_of_4_threads=results, ns_a_launch_and_event=events)


def part_benchmark_graph(run):
    names = ["interlace full"]
    has_mode = "--graphs" in options_known(run)
    if has_mode:
        names.append("interlace graph mode")
    results = measure(run, launch_configurations(run, "graph", 2_000_000, names), "ns_each", most_rounds=5, seconds=30)
    run.keep(ns_a_node=results)
    run.say("  graphs of 1000 empty nodes, ns a node")
    show(run, results)
    if has_mode:
        share = added(results, "interlace graph mode") / results["bare"]["median"]
        run.check("graphs in graph mode: under 7 %", share < 0.07, f"{share * 100:+.2f} %")


def part_benchmark_busy(run):
    results = measure(run, launch_configurations(run, "busy", 5_000, ["interlace full", "interlace light"]), "ns_each",
                      most_rounds=5, seconds=40)
    run.keep(ns_a_kernel=results)
    run.say("  kernels that fill the GPU, ns a kernel")
    show(run, results)
    share = added(results, "interlace full") / results["bare"]["median"]
    run.check("GPU-bound: under 0.5 %", share < 0.005, f"{share * 100:+.3f} %")


def part_benchmark_torch(run):
    script = os.path.join(run.tests, "torch_mlp.py")
    base = [sys.executable, script, "--steps", "400"]

    def plain(profile):
        return lambda: timed(execute(run, base + ["--profile", profile], 60))

    def with_interlace(options):
        return lambda: timed(list(record(run, "benchmark_torch", base, options, 60).values())[:3])

    configurations = {"bare": plain("none"), "kineto": plain("kineto"), "kineto_cpu": plain("kineto_cpu"),
                      "interlace full": with_interlace([]), "interlace light": with_interlace(["--light"])}
    results = measure(run, configurations, "us_step", most_rounds=7, seconds=140)
    run.keep(us_a_step=results)
    run.say("  PyTorch small-MLP training step, us")
    show(run, results)
    kineto, full, light = (added(results, name) for name in ("kineto", "interlace full", "interlace light"))
    run.check("PyTorch: full adds no more than Kineto with the same kinds", full <= kineto,
              f"{full:.0f} us against {kineto:.0f} us")
    run.check("PyTorch: light adds at most half of Kineto", light <= kineto / 2, f"{light:.0f} us of {kineto:.0f} us")


# Parts that are not run unless named


def part_torchrun(run):
    script = os.path.join(run.tests, "torch_mlp.py")
    recording = record(run, "torchrun", [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", script,
                                         "--steps", "100"], limit=180)
    run.check("torchrun on 2 GPUs", recording["status"] == 0, (recording["out"] + recording["err"])[-1500:])
    check_whole(run, recording, "torchrun")
    files = sorted(os.path.basename(file) for file in glob.glob(os.path.join(recording["folder"], "*.ilt")))
    run.check("torchrun: a file for each rank", files[:2] == ["rank0.ilt", "rank1.ilt"], files)
    keep_sample(run, recording, "torchrun")
    answer = check_info(run, recording, "torchrun")
    if answer:
        run.keep(operations=answer["operations"], diagnostics=answer["diagnostics"], files=files)
        run.check("torchrun: collectives recorded", answer["operations"]["collective"] > 0, answer["operations"])
        run.check("torchrun: two ranks", len(answer["ranks"]) == 2, [one["rank"] for one in answer["ranks"]])


def part_soak(run):
    """Memory and ledger at 100,000 launches a second."""
    folder = os.path.join(run.work, "soak")
    process = subprocess.Popen([run.bin("interlace-record"), "--out", folder, "--", run.bin("launch_loop"), "steady",
                                str(run.soak_seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, LD_LIBRARY_PATH=run.cupti))
    resident = []
    while process.poll() is None and run.left() > -30:
        time.sleep(5)
        try:
            with open(f"/proc/{child_of(process.pid)}/status", encoding="ascii") as text:
                found = re.search(r"VmRSS:\s+(\d+)", text.read())
                resident.append(int(found.group(1)) // 1024 if found else 0)
        except (OSError, ValueError):
            break
    out, err = process.communicate(timeout=60)
    recording = {"status": process.returncode, "out": out, "err": err, "folder": folder}
    run.keep(resident_mib=resident, out=out, summary=err)
    launched = run.soak_seconds * 100_000
    check_whole(run, recording, f"{run.soak_seconds} s at 100,000 launches a second", launched)
    size = sum(os.path.getsize(file) for file in glob.glob(os.path.join(folder, "*.ilt")))
    run.check("file is at most 25 bytes a kernel", size <= 25 * launched, f"{size / launched:.2f} bytes a kernel")
    steady = resident[len(resident) // 4 :]
    run.check("memory is flat", steady and max(steady) - min(steady) <= 64,
              f"{min(steady)} to {max(steady)} MiB" if steady else "no samples")
    run.check("the rate was held", json_line(out)["ns_each"] * 100_000 < 1.05e9, out.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--cupti", help="folder of the libcupti to use")
    parser.add_argument("--part", action="append", help="run only these")
    parser.add_argument("--budget", type=float, default=460, help="seconds for all parts together")
    parser.add_argument("--soak-seconds", type=int, default=480)
    args = parser.parse_args()
    run = Run(args)
    for name in args.part or DEFAULT_PARTS:
        run.part = name
        began = time.monotonic()
        if run.left() < 5:
            run.check(name, False, "no time left for this part")
            continue
        run.say(f"{name}")
        try:
            globals()["part_" + name](run)
        except Exception:  # pylint: disable=broad-except
            run.check(name, False, traceback.format_exc(limit=3))
        run.keep(seconds=round(time.monotonic() - began, 1))
    failed = [one for one in run.results["checks"] if not one["passed"]]
    run.say(f"{len(run.results['checks']) - len(failed)} passed, {len(failed)} failed")
    for one in failed:
        run.say(f"  FAIL {one['part']}: {one['what']}")
    run.save()
    with tarfile.open(os.path.join(run.out, "samples.tar.gz"), "w:gz") as samples:
        samples.add(run.samples, arcname="samples")
    shutil.rmtree(run.work, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
