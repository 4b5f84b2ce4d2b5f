"""Parts that record programs and look at what came of it."""
import glob
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

from harness import check_info, check_whole, child_of, convert, execute, info, json_line, keep_sample, ledgers, record


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
              "mark": 1, "loss": 1}
    run.check("mixed work: NVTX ranges and marks", all(ranges.get(name) == count for name, count in wanted.items()),
              ranges)
    noted = {one["name"]: one["args"] for one in events if "category" in one.get("args", {}) or "open" in
             one.get("args", {})}
    run.check("mixed work: numbers and categories of ranges and marks, a range without an end", noted == {
        "registered": {"payload": 42, "category": "io"}, "loss": {"payload": 0.25, "category": "loss"},
        "never ended": {"open": True}}, noted)
    run.keep(notes=answer.get("notes"))
    allocations = found.get("allocation", 0)
    run.check("mixed work: allocations", allocations >= expected["mallocs"],
              f"{allocations} of at least {expected['mallocs']}")
    light = record(run, "mixed_light", [run.bin("mixed_work")], ["--light"])
    check_whole(run, light, "mixed work, light", expected["launches"])
    keep_sample(run, light, "mixed_light")


def part_crowd(run):
    """Many threads and few buffers: the program goes on, and what had no room is counted."""
    launched = 480_000
    command = [run.bin("launch_loop"), "crowd", str(launched)]
    roomy = record(run, "crowd", command)
    check_whole(run, roomy, "24 threads", launched)
    starved = record(run, "crowd_starved", command, ["--buffers", "8"])
    rows = ledgers(starved)
    run.check("24 threads over 8 buffers: the program ends well", starved["status"] == 0, starved["err"][-800:])
    run.check("24 threads over 8 buffers: its launches add up", rows and rows[0][0] == sum(rows[0][1:]), rows)
    check_readable(run, starved, "24 threads over 8 buffers")


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
        for file in sorted(glob.glob(os.path.join(recording["folder"], "*.ilt"))):
            check_readable(run, {"folder": file}, f"{way}, {os.path.basename(file)}")
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
                               stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
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
        os.killpg(process.pid, signal.SIGKILL)  # the program, too, which holds the pipes
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


def part_switching(run):
    """Recordings of a part of a program."""
    window = record(run, "window", [run.bin("launch_loop"), "steady", "3"], ["--window", "1:2"])
    rows = ledgers(window)
    check_whole(run, window, "1 s of 3")
    run.check("1 s of 3: as many launches as that takes", rows and 80_000 <= rows[0][0] <= 120_000, rows)
    check_info(run, window, "1 s of 3")
    last = record(run, "last", [run.bin("launch_loop"), "steady", "3"], ["--last", "1s"])
    check_whole(run, last, "the last 1 s of 3")
    answer = check_info(run, last, "the last 1 s of 3")
    if answer:
        kept = answer["operations"]["kernel"]
        run.check("the last 1 s of 3: as many kernels as that takes", 80_000 <= kept <= 160_000, kept)
    small = record(run, "max_mb", [run.bin("launch_loop"), "empty", "2000000"], ["--max-mb", "1"])
    size = os.path.getsize(os.path.join(small["folder"], "rank0.ilt"))
    run.check("--max-mb 1: the file is about so large", small["status"] == 0 and size <= 4_000_000,
              f"status {small['status']}, {size} bytes" + small["err"][-300:])
    script = os.path.join(run.tests, "torch_mlp.py")
    steps = record(run, "torch_steps", [sys.executable, script, "--steps", "100"], ["--skip", "60", "--steps", "20"],
                   limit=90)
    check_whole(run, steps, "20 steps of PyTorch")
    answer = check_info(run, steps, "20 steps of PyTorch")
    keep_sample(run, steps, "torch_steps")
    if answer:
        run.keep(operations=answer["operations"], steps=answer["ranks"][0]["steps"])
        kernels = answer["operations"]["kernel"]
        run.check("20 steps of PyTorch: the same kernels in each", kernels % 20 == 0 and kernels > 0, kernels)
        bare = [one["count"] for one in answer["diagnostics"] if one["code"] == "trace.device_work_without_launch"]
        run.check("20 steps of PyTorch: every kernel with its launch", not bare, bare)
        run.check("20 steps of PyTorch: found as steps", len(answer["ranks"][0]["steps"]["host_begins_ns"]) == 20,
                  answer["ranks"][0]["steps"]["marker"])


def part_torch(run):
    steps = 50
    script = os.path.join(run.tests, "torch_mlp.py")
    base = [sys.executable, script, "--steps", str(steps), "--bracket"]
    kineto_file = os.path.join(run.work, "kineto.json")
    status, out, err = execute(run, base + ["--profile", "kineto", "--trace", kineto_file], 90)
    run.check("PyTorch under Kineto", status == 0, json_line(out) if status == 0 else (out + err)[-400:])
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
        run.check("torchrun: every range has an end", answer.get("notes", {}).get("open_ranges") == 0,
                  answer.get("notes"))
        run.check("torchrun: two ranks", len(answer["ranks"]) == 2, [one["rank"] for one in answer["ranks"]])


def part_stress(run):
    """Many short programs, to see that none hangs or is harmed; two of three in light mode."""
    script = os.path.join(run.tests, "torch_mlp.py")
    runs = 0
    good = 0
    slowest = 0.0
    while runs < 24 and run.left() > 60:
        options = ["--light"] if runs % 3 else []
        began = time.monotonic()
        recording = record(run, "stress", [sys.executable, script, "--steps", "30", "--warmup", "5"], options, limit=45)
        slowest = max(slowest, time.monotonic() - began)
        rows = ledgers(recording)
        is_good = recording["status"] == 0 and rows and rows[0][0] == rows[0][1] > 3_000
        runs += 1
        good += bool(is_good)
        if not is_good:
            run.check(f"stress: run {runs} {options}", False,
                      f"status {recording['status']}, {rows}, {recording['out'][-200:]!r} {recording['err'][-300:]!r}")
    run.check("stress: all ended, each with a closed account", good == runs > 0,
              f"{good} of {runs}, the slowest took {slowest:.1f} s")
