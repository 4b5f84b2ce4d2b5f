#!/usr/bin/env python3
"""Runs campaigns of `interlace validate` side by side, each on GPUs of its own, within a time.

    tools/campaigns/run_series.py BIN_DIR OUT --groups 0,1 2,3 --seconds 530 --role tuned

BIN_DIR holds interlace and interlace-engine. Each group of GPUs takes one campaign of the table (series.json beside this
file) after the other: the next one with the most ranks that it has GPUs for. A group keeps to cores of the NUMA node of
its GPUs, which it shares with no other group. What is done of a campaign lies in OUT/NAME.tar.xz, without the predicted
traces, which can be made again; where such a file is there already, its campaign goes on. A campaign that fails is told
in OUT/series.json, and the others go on. Ends with status 3 where campaigns are left to do.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
FINISHED, UNFINISHED = 0, 3
PACKING_S = 10  # at the end of the time, for what is kept


def arguments(campaign, device, recording):
    """What `interlace validate` is told to begin a campaign of the table."""
    words = ["--workload", campaign["workload"], "--record", campaign["record"]]
    words += ["--schedules", ",".join(campaign["schedules"])]
    for option in ("ranks", "batch", "recordings", "repeats", "steps", "warmup", "record_steps", "references"):
        if option in campaign:
            words += ["--" + option.replace("_", "-"), str(campaign[option])]
    for name, value in campaign.get("env", {}).items():
        words += ["--env", f"{name}={value}"]
    words += ["--device", device]
    return words + (["--from", recording] if recording else [])


def read_list(text):
    """The numbers of "0-3,8"."""
    numbers = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def cores_of_gpu(gpu):
    """The cores near a GPU; none where the machine does not tell."""
    try:
        told = subprocess.run(["nvidia-smi", f"--id={gpu}", "--query-gpu=pci.bus_id", "--format=csv,noheader"],
                              check=True, capture_output=True, text=True, timeout=30).stdout.strip().lower()
        address = re.sub(r"^0000(?=[0-9a-f]{4}:)", "", told)  # the driver writes a domain of eight digits
        return read_list(pathlib.Path(f"/sys/bus/pci/devices/{address}/local_cpulist").read_text())
    except (OSError, subprocess.SubprocessError, ValueError):
        return set()


def share_cores(groups, near, available):
    """Cores of each group: those near its GPUs, in equal parts where several groups are near the same."""
    wanted = [frozenset(set().union(*(near[gpu] for gpu in group)) & available or available) for group in groups]
    cores = []
    for number, own in enumerate(wanted):
        sharing = [i for i, other in enumerate(wanted) if other & own]
        place, parts = sharing.index(number), len(sharing)
        ordered = sorted(own)
        part = ordered[place * len(ordered) // parts:(place + 1) * len(ordered) // parts]
        cores.append(set(part) or set(own))
    return cores


class Queue:
    def __init__(self, campaigns):
        self.left = list(campaigns)
        self.lock = threading.Lock()

    def take(self, gpus):
        """The first of those with the most ranks that so many GPUs can run; none where there is none."""
        with self.lock:
            fitting = [one for one in self.left if one.get("ranks", 2) <= gpus]
            if not fitting:
                return None
            chosen = max(fitting, key=lambda one: one.get("ranks", 2))
            self.left.remove(chosen)
            return chosen


def run_campaign(campaign, options, group, cores, deadline):
    """Begins or goes on with a campaign, until it is done or the time is up; keeps it. Its line of series.json."""
    name = campaign["name"]
    began = time.monotonic()
    kept = options.out / f"{name}.tar.xz"
    folder = options.work / name
    if kept.exists():
        with tarfile.open(kept) as tar:
            tar.extractall(options.work, filter="data")
    seconds = deadline - began
    words = ["validate", "--minutes", f"{seconds / 60:.3f}", "--run-limit", str(options.run_limit)]
    words += ["--engine", str(options.bin / "interlace-engine")]
    if (folder / "plan.json").exists():
        words += ["--resume", str(folder)]
    else:
        words += [*arguments(campaign, options.device, options.recording), "--out", str(folder)]
    visible = {} if options.device == "cpu" else {"CUDA_VISIBLE_DEVICES": ",".join(map(str, group[:campaign["ranks"]]))}
    log = options.out / f"{name}.log"
    with log.open("a", encoding="utf-8") as out:
        # A session of its own, so that whatever outlives the time can be ended with all that it started.
        process = subprocess.Popen([options.bin / "interlace", *words], stdout=out, stderr=out,
                                   env={**os.environ, **visible}, start_new_session=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores))
        try:
            status = process.wait(timeout=max(1, deadline + PACKING_S / 2 - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = UNFINISHED
    if folder.exists():
        pack(folder, kept)
    return {"name": name, "gpus": group[:campaign["ranks"]], "cores": len(cores), "status": status,
            "seconds": round(time.monotonic() - began, 1)}


def pack(folder, kept):
    partial = kept.with_suffix(".partial")
    with tarfile.open(partial, "w:xz") as tar:
        tar.add(folder, folder.name,
                filter=lambda entry: None if entry.name.split("/")[1:2] == ["predicted"] else entry)
    partial.replace(kept)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--groups", nargs="+", required=True, help="GPUs of each group, as 0,1")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "series.json")
    parser.add_argument("--role", help="only the campaigns of this role: tuned or blind")
    parser.add_argument("--only", nargs="+", help="only these campaigns, in this order")
    parser.add_argument("--run-limit", type=int, default=60, help="seconds after which a single run is ended")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--from", dest="recording", help="a recording made elsewhere, for --device cpu")
    options = parser.parse_args(words)
    options.bin = options.bin.resolve()
    return options


def chosen(options):
    campaigns = json.loads(options.table.read_text())["campaigns"]
    if options.role:
        campaigns = [one for one in campaigns if one["role"] == options.role]
    if options.only:
        by_name = {one["name"]: one for one in campaigns}
        campaigns = [by_name[name] for name in options.only]
    return campaigns


def main(words):
    deadline = time.monotonic()
    options = parse(words)
    deadline += options.seconds - PACKING_S
    options.out.mkdir(parents=True, exist_ok=True)
    options.work = pathlib.Path(tempfile.mkdtemp(prefix="series"))
    groups = [[int(gpu) for gpu in group.split(",")] for group in options.groups]
    near = {gpu: cores_of_gpu(gpu) if options.device == "cuda" else set() for group in groups for gpu in group}
    cores = share_cores(groups, near, os.sched_getaffinity(0))
    queue = Queue(chosen(options))
    lines, lock = [], threading.Lock()

    def work(group, own):
        while time.monotonic() < deadline - 15:
            campaign = queue.take(len(group))
            if campaign is None:
                return
            try:
                line = run_campaign(campaign, options, group, own, deadline)
            except Exception as error:  # one campaign's trouble is not the others'
                line = {"name": campaign["name"], "status": -1, "error": str(error)}
            with lock:
                lines.append(line)
                (options.out / "series.json").write_text(json.dumps({"campaigns": lines}, indent=1) + "\n")
            print(json.dumps(line), flush=True)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(groups, cores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shutil.rmtree(options.work)
    left = [one["name"] for one in queue.left] + [line["name"] for line in lines if line["status"] != FINISHED]
    print("left to do:", " ".join(left) or "nothing", flush=True)
    return UNFINISHED if left else FINISHED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
