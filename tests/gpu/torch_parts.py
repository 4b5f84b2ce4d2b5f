"""Parts that look at what PyTorch's allocator and NCCL say of themselves."""
import json
import os
import statistics
import sys

from harness import check_info, check_whole, convert, execute, json_line, keep_sample, ledgers, record


def chrome_events(run, folder):
    with open(convert(run, folder), encoding="utf-8") as text:
        return json.load(text)["traceEvents"]


def allocations(events):
    return [one["args"] | {"pid": one["pid"], "tid": one["tid"]} for one in events
            if one.get("cat") == "cpu_instant_event" and "action" in one.get("args", {})]


def part_memory(run):
    """PyTorch's allocator: the recording against what the allocator itself recorded."""
    script = os.path.join(run.tests, "torch_memory.py")
    file = os.path.join(run.work, "history.json")
    recording = record(run, "memory", [sys.executable, script, "--history", file], limit=120)
    check_whole(run, recording, "PyTorch's memory")
    run.check("the allocator is recorded", "is not recorded" not in recording["err"], recording["err"][-800:])
    keep_sample(run, recording, "torch_memory")
    answer = check_info(run, recording, "PyTorch's memory")
    if answer:
        run.keep(operations=answer["operations"], memory=answer.get("memory"), diagnostics=answer["diagnostics"])
    with open(file, encoding="utf-8") as text:
        told = json.load(text)
    # Pinned memory of the host, which the driver tells of, is for no stream.
    rows = [one for one in allocations(chrome_events(run, recording["folder"]))
            if "stream" in one or not one["action"].startswith("segment")]
    ours = [one for one in rows if one["action"] != "record_stream"]
    wanted = [(action, address, size) for action, address, size, _ in told["events"]]
    found = [(one["action"], one["address"], one.get("requested bytes", one["bytes"])) for one in ours]
    same = found[:len(wanted)] == wanted
    detail = f"{len(wanted)} events of the allocator, {len(found)} recorded"
    if not same:
        first = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), None)
        detail += f", first difference at {first}: {found[first:first + 3] if first is not None else ''} for " \
                  f"{wanted[first:first + 3] if first is not None else ''}; ours begin {found[:3]}, theirs {wanted[:3]}"
    run.check("every event of the allocator, in its order", same, detail)
    streams = [one for one in rows if one["action"] == "record_stream"]
    run.check("record_stream calls", len(streams) == told["record_streams"],
              f"{len(streams)} of {told['record_streams']}")
    on_stream = sum("stream" in one for one in rows)
    run.check("events whose stream is known", on_stream >= 0.99 * len(rows), f"{on_stream} of {len(rows)}")
    live = {}
    for one in ours[:len(wanted)]:
        if one["action"] == "alloc":
            live[one["address"]] = one["bytes"]
        elif one["action"] == "free_completed":
            live.pop(one["address"], None)
    blocks = {address: size for address, size, state in told["blocks"] if state != "inactive"}
    run.check("block sizes as in the allocator's state", live == blocks,
              f"{len(live)} blocks of {sum(live.values())} bytes, the allocator's {len(blocks)} of "
              f"{sum(blocks.values())}, allocated {told['allocated']}")
    loop = [sys.executable, script, "--loop", "200000"]
    times = {"plain": [], "recorded": [], "light": []}
    for _ in range(3):
        if run.left() < 120:
            break
        times["plain"].append(json_line(execute(run, loop, 60)[1])["ns_alloc_and_free"])
        times["recorded"].append(json_line(record(run, "loop", loop, limit=90)["out"])["ns_alloc_and_free"])
        times["light"].append(json_line(record(run, "loop_light", loop, ["--light"], limit=90)["out"])
                              ["ns_alloc_and_free"])
    medians = {name: statistics.median(values) for name, values in times.items() if values}
    run.keep(ns_alloc_and_free=times, medians=medians)
    if medians:
        run.check("ns of an allocation and its free (a figure)", True, medians)


def check_program(run, name, command, wanted):
    """Records a program and lets `interlace check` judge it; wanted: the kinds of hazards, none for a sound one."""
    recording = record(run, name, command, limit=90)
    check_whole(run, recording, name)
    keep_sample(run, recording, name)
    status, out, err = execute(run, [run.bin("interlace"), "check", "--format", "json", recording["folder"]], 60,
                               {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib")})
    with open(os.path.join(run.out, "check_" + name + ".json"), "w", encoding="utf-8") as file:
        file.write(out + err)
    if not run.check(f"{name}: interlace check runs", status in (0, 1), (out + err)[-600:] if status > 1 else ""):
        return
    text = execute(run, [run.bin("interlace"), "check", recording["folder"]], 60,
                   {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib")})[1]
    with open(os.path.join(run.out, "check_" + name + ".txt"), "w", encoding="utf-8") as file:
        file.write(text)
    found = [kind for kind in ("read_before_write", "write_while_read", "free_before_last_use", "unordered_writes",
                               "memory_still_in_use") if f'"{kind}"' in out]
    run.check(f"{name}: {', '.join(wanted) or 'no hazard'}", status == bool(wanted) and set(wanted) <= set(found),
              f"status {status}, {found}")


def part_late(run):
    """PyTorch loaded behind the first CUDA call: the program ends well, with its allocator's events and last state."""
    script = os.path.join(run.tests, "torch_late.py")
    for number in range(3):
        recording = record(run, f"late{number}", [sys.executable, script], limit=60)
        check_whole(run, recording, "a PyTorch that came late")
        answer = check_info(run, recording, "a PyTorch that came late")
        memory = (answer or {}).get("memory")
        run.check("its allocator is recorded", bool(memory), str(memory)[:200])


def part_ranges(run):
    """What PyTorch says of itself, in a training loop that is not changed, of ten steps behind twenty."""
    script = [sys.executable, os.path.join(run.tests, "torch_mlp.py"), "--steps", "40"]
    plan = ["--skip", "20", "--steps", "10", "--step-name", "Optimizer.step#Adam.step"]
    recording = record(run, "ranges", script, plan, limit=60)
    check_whole(run, recording, "PyTorch's ranges")
    run.check("PyTorch's ranges are recorded", "ranges are not recorded" not in recording["err"], recording["err"][-800:])
    events = chrome_events(run, recording["folder"])
    named = [one for one in events if one.get("cat") == "user_annotation"]
    for name in ("## copy_batch_to_gpu ##", "## forward ##", "## backward ##"):
        count = sum(one["name"] == name for one in named)
        run.check(f"ten of {name}", count == 10, count)
    told = [one["name"] for one in named if one["name"].startswith("unrecorded steps: 10 in ")]
    run.check("the later ten of the skipped steps are timed", len(told) == 1, told)
    forwards = {}
    nodes = []
    for one in events:
        number = one.get("args", {}).get("Sequence number") if one.get("cat") == "cpu_op" else None
        if number is not None and not one["name"].endswith("Backward0"):
            forwards.setdefault(number, one)
        elif number is not None:
            nodes.append(one)
    joined = [one for one in nodes if one["args"]["Sequence number"] in forwards
              and forwards[one["args"]["Sequence number"]]["tid"] != one["tid"]]
    run.check("nodes of backward on autograd's thread have their operators", len(joined) > 0.8 * len(nodes) > 40,
              f"{len(joined)} of {len(nodes)}")


def part_check(run):
    """Programs with a planted missing wait, and their repaired twins."""
    program = run.bin("missing_wait")
    check_program(run, "missing_wait", [program], ["read_before_write"])
    check_program(run, "repaired_wait", [program, "repaired"], [])
    script = [sys.executable, os.path.join(run.tests, "torch_pipeline.py")]
    check_program(run, "torch_missing_wait", script + ["--without", "wait"], ["read_before_write"])
    check_program(run, "torch_missing_record_stream", script + ["--without", "record_stream"], ["free_before_last_use"])
    check_program(run, "torch_repaired", script, [])


def collectives(events):
    """By rank's process: the collectives in their order."""
    by_rank = {}
    for one in sorted((one for one in events if "Collective name" in one.get("args", {})), key=lambda one: one["ts"]):
        args = one["args"]
        by_rank.setdefault(one["pid"], []).append(
            [args["Collective name"], args["dtype"], args["In msg nelems"], args["Out msg nelems"], args["Group size"]])
    return by_rank


def check_buffers(run, told, events):
    """Where the data of collectives lies, and on how many channels it goes."""
    rows = [one["args"] | {"pid": one["pid"]} for one in sorted(
        (one for one in events if "Collective name" in one.get("args", {})), key=lambda one: one["ts"])]
    run.check("channels and buffers of every collective", rows and all(
        one.get("channels", 0) > 0 and "In buffer" in one and "Out buffer" in one for one in rows), rows[:2])
    of_rank = [one for one in rows if one["pid"] == min(one["pid"] for one in rows)][-6 * told["rounds"]:]
    last = of_rank[-6:-4]
    found = [(one["In buffer"], one["Out buffer"]) for one in last]
    run.check("rank 0: the buffers that the program gave", found == [tuple(pair) for pair in told["buffers"]],
              f"{found} for {told['buffers']}")


def part_collectives(run):
    """NCCL's collectives on 2 GPUs: names, types, sizes and groups as the program has them."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2",
               os.path.join(run.tests, "torch_collectives.py")]
    recording = record(run, "collectives", command, limit=150, environment={"NCCL_DEBUG": "INFO"})
    run.check("torchrun on 2 GPUs", recording["status"] == 0, (recording["out"] + recording["err"])[-2500:])
    with open(os.path.join(run.out, "nccl_debug.txt"), "w", encoding="utf-8") as out:
        out.write(recording["out"] + recording["err"])
    check_whole(run, recording, "collectives")
    keep_sample(run, recording, "collectives")
    answer = check_info(run, recording, "collectives")
    if answer:
        run.keep(operations=answer["operations"], diagnostics=answer["diagnostics"])
        bare = [one["count"] for one in answer["diagnostics"] if one["code"] == "record.undescribed_collective"]
        run.check("every collective is described", not bare, bare)
    told = json_line(recording["out"])
    ranks = collectives(chrome_events(run, recording["folder"]))
    run.keep(rounds=told, first={str(pid): found[:12] for pid, found in ranks.items()})
    run.check("two ranks have collectives", len(ranks) == 2, {pid: len(found) for pid, found in ranks.items()})
    for place, (pid, found) in enumerate(sorted(ranks.items())):
        last = found[-6 * told["rounds"]:]
        wanted = [row + [2] for row in told["round"]] * told["rounds"]
        if place == 1:
            wanted = [row[:3] + [2000 if row[:2] == ["AlltoAll", "Float"] else row[3], 2] for row in wanted]
        run.check(f"rank {place}: names, types, elements, group", last == wanted,
                  "" if last == wanted else [pair for pair in zip(last, wanted) if pair[0] != pair[1]][:6])
    check_buffers(run, told, chrome_events(run, recording["folder"]))
    plain = execute(run, command, 120)
    run.check("the same without recording", plain[0] == 0, ledgers(recording))
