"""Parts that measure what recording adds to a program."""
import glob
import os
import re
import statistics
import subprocess
import sys
import time

from harness import check_whole, child_of, execute, json_line, raw, record, timed


def options_known(run):
    """What `interlace record` of this build offers."""
    _, out, _ = execute(run, [run.bin("interlace-record"), "--help"])
    return out


def measure(run, configurations, key, least_rounds=5, most_rounds=9, seconds=100):
    """Runs all configurations one after the other, round by round, so that a drift of the machine meets all of them
    alike. Gives each one's median and its values."""
    rows = {name: [] for name in configurations}
    end = time.monotonic() + seconds
    for number in range(most_rounds):
        if number >= least_rounds and time.monotonic() > end:
            break
        if run.left() < 10:
            run.say(f"  the budget ends after {number} rounds")
            break
        for name, start in configurations.items():
            if run.left() < 0:
                continue
            try:
                row = start()
                rows[name].append({key: row[key]} | row)
            except (ValueError, KeyError) as error:
                run.say(f"  {name}: {error}")
    answer = {}
    for name, found in rows.items():
        values = [row[key] for row in found]
        answer[name] = {"median": statistics.median(values) if values else None, "values": values, "rows": found}
    return answer


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
                 "interlace full, flush 200 ms": ["--flush-ms", "200"],
                 "interlace light, flush 200 ms": ["--light", "--flush-ms", "200"]}

    def bare():
        return timed(execute(run, command))

    def with_raw(kinds, **settings):
        return lambda: timed(raw(run, kinds, command, **settings))

    def with_interlace(options):
        return lambda: timed(list(record(run, "benchmark", command, options).values())[:3])

    light = "kernels,copies,places,waits,driver_ordering"
    raws = {"raw kernels": ("kernels", {}), "raw kernels cleared": ("kernels", {"zeroed": 1}), "raw light": (light, {}),
            "raw all": (CALLS, {}), "raw all cleared": (CALLS, {"zeroed": 1})}
    configurations = {"bare": bare}
    for name in names:
        if name in raws:
            configurations[name] = with_raw(raws[name][0], **raws[name][1])
        else:
            configurations[name] = with_interlace(interlace[name])
    return configurations


CALLS = "kernels,copies,places,waits,memory,overhead,runtime_quiet,driver_ordering"
KINDS = ["", "places", "kernels", "kernels,overhead", "kernels,waits", "kernels,runtime_ordering",
         "kernels,driver_ordering", "kernels,runtime_ordering,driver_ordering", "kernels,runtime_quiet", "kernels,runtime",
         "kernels,driver", "runtime_ordering", "driver_ordering", "kernels,copies,waits,driver_ordering", CALLS]


def part_benchmark_kinds(run):
    """What each kind adds, all in one process."""
    for name, settings in (("", {}), (", cleared buffers", {"zeroed": 1}),
                           (", cleared, one buffer for all threads", {"zeroed": 1, "per_thread": 0})):
        os.environ["LAUNCH_LOOP_KINDS"] = ";".join(KINDS)
        found = timed(raw(run, "", [run.bin("launch_loop"), "kinds", "30000"], 60, **settings))
        run.keep(**{"ns_a_launch" + name: found})
        run.say(f"  ns a launch{name}")
        for kinds, value in found.items():
            run.say(f"    {kinds or 'attached, no kinds':60} {value:9.1f}  {value - found['']:+9.1f}")
    found = timed(raw(run, "", [sys.executable, os.path.join(run.tests, "torch_kinds.py"), *KINDS], 120))
    run.keep(us_a_step=found)
    run.say("  PyTorch training step, us")
    for kinds, value in found.items():
        run.say(f"    {kinds or 'attached, no kinds':60} {value:9.1f}  {value - found['']:+9.1f}")


def part_benchmark_launches(run):
    names = ["raw kernels", "raw light", "raw all", "raw all cleared", "interlace full", "interlace full, flush 200 ms",
             "interlace light", "interlace light, flush 200 ms"]
    results = measure(run, launch_configurations(run, "empty", 200_000, names), "ns_each", most_rounds=7, seconds=50)
    run.keep(ns_a_launch=results)
    run.say("  empty kernels, ns a launch")
    show(run, results)
    full, all_raw, light = added(results, "interlace full"), added(results, "raw all"), added(results, "interlace light")
    run.check("launch-bound: full adds no more than raw CUPTI + 5 %", full <= all_raw * 1.05,
              f"{full:.0f} ns against {all_raw:.0f} ns ({full / all_raw * 100 - 100:+.1f} %)")
    run.check("launch-bound: light adds at most 700 ns", light <= 700, f"{light:.0f} ns")


def part_benchmark_cheaper(run):
    """Whether any setting of CUPTI makes the record of a kernel cheaper, and what the light mode could cost then."""
    command = [run.bin("launch_loop"), "empty", "200000"]
    settings = {"as it is": {}, "cleared": {"zeroed": 1}, "one buffer for all threads": {"per_thread": 0},
                "buffers of 64 KiB": {"buffer_kib": 64}, "buffers of 256 KiB": {"buffer_kib": 256},
                "buffers of 1 MiB": {"buffer_kib": 1024}, "device buffers in pinned memory": {"pinned": 1},
                "device buffers of 32 MiB": {"device_buffer_mib": 32}, "64 device buffers made ahead": {"device_buffers": 64},
                "8 device buffers made ahead": {"device_buffers": 8}, "one kernel at a time": {"serial": 1},
                "times by hardware events": {"hardware": 1}, "without a subscriber": {"subscribe": 0}}
    configurations = {"bare": lambda: timed(execute(run, command)),
                      "attached, no kinds": lambda: timed(raw(run, "places", command)),
                      "kernels, flush 20 ms": lambda: timed(raw(run, "kernels", command, flush_ms=20)),
                      "kernels + ordering calls": lambda: timed(raw(run, "kernels,runtime_ordering", command))}
    for name, values in settings.items():
        configurations["kernels, " + name] = lambda values=values: timed(raw(run, "kernels", command, **values))
    results = measure(run, configurations, "ns_each", least_rounds=3, most_rounds=5, seconds=20)
    run.keep(ns_a_launch=results)
    run.say("  empty kernels, ns a launch")
    show(run, results)
    best = min((one["median"], name) for name, one in results.items() if name.startswith("kernels, ") and one["median"])
    run.check("cheapest record of a kernel (a figure)", True, f"{best[1]}: {best[0] - results['bare']['median']:+.0f} ns")


LIGHT = "kernels,copies,places,waits"


def part_benchmark_light(run):
    """What the light mode can cost: kernels alone, and what telling of their launches adds, in several ways."""
    command = [run.bin("launch_loop"), "empty", "200000"]
    ours = {"zeroed": 1, "device_buffers": 8, "buffer_kib": 1024, "flush_ms": 20}
    rows = {"raw kernels": "kernels", "raw kernels, waits": LIGHT, "raw + calls chosen": LIGHT + ",runtime_ordering",
            "raw + calls chosen, driver's too": LIGHT + ",runtime_ordering,driver_ordering",
            "raw + others muted": LIGHT + ",runtime_muted",
            "raw + others muted, driver's chosen": LIGHT + ",runtime_muted,driver_ordering",
            "raw + others muted, driver's too": LIGHT + ",runtime_muted,driver_muted", "raw all": CALLS}
    configurations = {"bare": lambda: timed(execute(run, command))}
    for name, kinds in rows.items():
        configurations[name] = lambda kinds=kinds: timed(raw(run, kinds, command, **ours))
    configurations["interlace light"] = lambda: timed(list(record(run, "benchmark", command, ["--light"]).values())[:3])
    configurations["interlace full"] = lambda: timed(list(record(run, "benchmark", command, []).values())[:3])
    results = measure(run, configurations, "ns_each", most_rounds=7, seconds=run.launch_seconds)
    run.keep(ns_a_launch=results)
    run.say("  empty kernels, ns a launch")
    show(run, results)
    full, raw_all, light = (added(results, name) for name in ("interlace full", "raw all", "interlace light"))
    run.check("launch-bound: full adds no more than raw CUPTI + 5 %", full <= raw_all * 1.05,
              f"{full:.0f} ns against {raw_all:.0f} ns ({full / raw_all * 100 - 100:+.1f} %)")
    run.check("launch-bound: light adds at most 700 ns", light <= 700, f"{light:.0f} ns")


def part_left_behind(run):
    """What CUPTI leaves behind: a launch before a recording, in it and after it, all in one process."""
    kinds = ("before", "recording", "stopped", "finalized")
    rows = []
    for _ in range(5):
        rows.append(timed(raw(run, CALLS, [run.bin("launch_loop"), "left_behind", "100000"], late=1)))
        run.check("CUPTI can be taken out of the process", rows[-1]["finalize_status"] == 0, rows[-1])
    medians = {kind: statistics.median(row[kind] for row in rows) for kind in kinds}
    run.keep(raw_rows=rows, raw_medians=medians)
    run.say(f"  raw CUPTI, ns a launch: {medians}")
    rows = []
    for _ in range(3):
        recording = record(run, "phases", [run.bin("launch_loop"), "phases", "6"], ["--window", "2:4"])
        check_whole(run, recording, "2 s of 6")
        blocks = timed(list(recording.values())[:3])["blocks"]
        spans = {"attached": (0, 1.8), "recording": (2.2, 3.7), "after": (4.8, 6)}
        rows.append({name: statistics.median(ns for at, ns in blocks if begin <= at < end)
                     for name, (begin, end) in spans.items()})
    medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    run.keep(rows=rows, medians=medians)
    run.say(f"  interlace --window 2:4, ns a launch: {medians}")
    share = medians["after"] / medians["attached"] - 1
    run.check("nothing is left behind: a launch afterwards takes no longer than before", share < 0.01,
              f"{share * 100:+.2f} %")


def part_torch_after(run):
    """A training step after a recording has ended, beside one that was never recorded."""
    base = [sys.executable, os.path.join(run.tests, "torch_mlp.py"), "--steps", "200"]
    configurations = {"bare": lambda: timed(execute(run, base, 60)),
                      "ended before": lambda: timed(list(record(run, "torch_after", base, ["--skip", "10", "--steps",
                                                                                           "30"], 60).values())[:3]),
                      "after Kineto": lambda: timed(execute(run, base + ["--profile", "kineto"], 60))}
    results = measure(run, configurations, "us_step", least_rounds=3, most_rounds=5, seconds=20)
    after = [row["us_step_after"] for row in results["after Kineto"]["rows"]]
    bare = [row["us_step_after"] for row in results["bare"]["rows"]]
    run.keep(us_a_step=results)
    show(run, {name: one for name, one in results.items() if name != "after Kineto"})
    run.say(f"    the hundred steps after Kineto's end: {statistics.median(after):.0f} us, bare {statistics.median(bare):.0f}")
    if run.check("PyTorch: programs end after a recording has", results["ended before"]["median"] is not None):
        share = added(results, "ended before") / results["bare"]["median"]
        run.check("PyTorch: nothing is left behind: under 2 %", share < 0.02, f"{share * 100:+.2f} %")


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
    base = [sys.executable, script, "--steps", "200"]

    def plain(profile):
        return lambda: timed(execute(run, base + ["--profile", profile], 60))

    def with_interlace(options):
        return lambda: timed(list(record(run, "benchmark_torch", base, options, 60).values())[:3])

    configurations = {"bare": plain("none"), "kineto": plain("kineto"), "interlace full": with_interlace([]),
                      "interlace light": with_interlace(["--light"])}
    results = measure(run, configurations, "us_step", least_rounds=7, most_rounds=11, seconds=run.torch_seconds)
    run.keep(us_a_step=results)
    run.say("  PyTorch small-MLP training step, us")
    show(run, results)
    kineto, full, light = (added(results, name) for name in ("kineto", "interlace full", "interlace light"))
    run.check("PyTorch: full adds no more than Kineto with the same kinds", full <= kineto,
              f"{full:.0f} us against {kineto:.0f} us")
    run.check("PyTorch: light adds at most half of Kineto", light <= kineto / 2, f"{light:.0f} us of {kineto:.0f} us")


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
                if found:  # a process that has just ended has no memory
                    resident.append(int(found.group(1)) // 1024)
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
