#!/usr/bin/env python3
"""Says in tables what one_gpu.cu, two_gpus.cu, multiplications.py, urgent.cu, waiting.cu, queues.cu,
alignment.py, copies.cu and carveout.cu found.

    tools/placement/summarise.py docs/benchmarks/placement > docs/benchmarks/placement/summary.txt
"""

import collections
import json
import lzma
import sys
from pathlib import Path
from statistics import median


def lines_of(path):
    with lzma.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def scenes(path):
    """Of each scene and its settings, the kernels of every repetition by name; the first repetition loads code."""
    found = collections.defaultdict(list)
    for d in lines_of(path):
        if d["scene"] == "device" or d["repeat"] == 0:
            continue
        settings = tuple((k, v) for k, v in d.items() if k not in ("scene", "repeat", "kernels"))
        found[d["scene"], settings].append({k["name"]: k for k in d["kernels"]})
    return [(scene, dict(settings), runs) for (scene, settings), runs in found.items()]


def held_at_first(run):
    """SMs, of 132, that something else held when the next kernel began."""
    return 132 - run["next kernel"]["sms_at_first"]


def title(text):
    print(f"\n{text}\n{'-' * len(text)}")


def one_gpu(path):
    all_scenes = scenes(path)
    title("A collective by itself: microseconds from its first CTA to its last")
    for scene, s, runs in all_scenes:
        if scene == "alone":
            print(f"  {s['shape']:22} {s['ctas']:3} CTAs  {median(max(r['nccl']['starts']) - min(r['nccl']['starts']) for r in runs) / 1000:.2f}")

    title("Both ready at once: CTAs of the collective placed when it was first / when the kernel was")
    print("  (kernel of one round of blocks; rounds it then took)")
    for kernel in dict.fromkeys(s["kernel"] for scene, s, _ in all_scenes if scene == "race"):
        first, second = [], []
        for scene, s, runs in all_scenes:
            if scene == "race" and s["kernel"] == kernel:
                for r in runs:
                    k, n = r["kernel"], r["nccl"]
                    placed = sum(x < k["first_end"] for x in n["starts"])
                    rounds = (k["last_end"] - k["first_start"]) / 1e5
                    (first if n["first_start"] < k["first_start"] else second).append((placed, rounds))
        for who, of in (("collective first", first), ("kernel first", second)):
            print(f"  {kernel:26} {who:17} {len(of):4} times: {min(p for p, _ in of):2} to {max(p for p, _ in of):2} CTAs,"
                  f" {median(r for _, r in of):.2f} rounds")

    title("Whose turn: a collective ready while a kernel of 6 rounds runs (uneven blocks of 20 us)")
    print("  (its first and last CTA, in blocks' times after the kernel's last block started; SMs that another kernel had at first)")
    for scene, s, runs in all_scenes:
        if scene.startswith("turn") and s["rounds"] == 6 and not s["equal"] and scene != "turn: end":
            b = s["block_us"] * 1000
            begin = median((min(r["nccl"]["starts"]) - r["kernel"]["last_start"]) / b for r in runs)
            end = median((max(r["nccl"]["starts"]) - r["kernel"]["last_start"]) / b for r in runs)
            other = f"{median(r['other kernel']['sms_at_first'] for r in runs):.0f}" if "other kernel" in runs[0] else "-"
            print(f"  {scene[6:]:13} {s['kernel']:26} {begin:5.2f} to {end:5.2f}   {other}")

    title("Room: CTAs of 32 that start beside a kernel of one round that leaves so many of 132 SMs")
    for scene, s, runs in all_scenes:
        if scene == "room":
            placed = [sum(x < min(r["nccl"]["starts"]) + 10_000 for x in r["nccl"]["starts"])
                      if min(r["nccl"]["starts"]) < r["kernel"]["first_end"] else 0 for r in runs]
            print(f"  {s['left']:3} left: {min(placed)} to {max(placed)}")

    title("Real work on fewer SMs: time of a kernel beside CTAs that hold SMs and do nothing, as a multiple")
    held = (4, 8, 16, 32, 64)
    print("  " + " " * 35 + "".join(f"{h:>7}" for h in held) + "  SMs held")
    times = {(s["kernel"], s["asked"], s["held"]): median(r["work"]["last_end"] - r["work"]["first_start"] for r in runs)
             for scene, s, runs in all_scenes if scene == "work"}
    for kernel, asked in dict.fromkeys((k, a) for k, a, _ in times):
        alone = times[kernel, asked, 0]
        print(f"  {kernel:26}{asked:5} blocks" + "".join(f"{times[kernel, asked, h] / alone:7.2f}" for h in held))

    title("What follows the end of a kernel, and when: microseconds, median")
    for scene, s, runs in all_scenes:
        if scene == "chain":
            late = median((r["follower"]["first_start"] - r["kernel"]["last_end"]) / 1000 for r in runs)
            print(f"  {s['chain']:26} {'beside a collective' if s['company'] else 'alone':20} {late:.2f}")


def two_gpus(path):
    all_scenes = [x for x in scenes(path) if x[1].get("gpu") == 0]
    title("An exchange of NCCL on an idle GPU, waiting for the other GPU, and a kernel of two rounds that comes later")
    print("  (SMs that NCCL held when the kernel began; microseconds later until the kernel had 16 of these)")
    for scene, s, runs in all_scenes:
        if scene == "idle" and s["offset_us"] >= 0:
            held = [held_at_first(r) for r in runs]
            # Of 264 blocks sorted by start every 13th is told: the 105th is among the 16 that follow the first 100.
            left = [(r["next kernel"]["deciles"][8] - r["delay of nccl"]["last_end"]) / 1000 for r in runs
                    if held_at_first(r) == 32]
            own = f", {median(left):.1f} us after it was ready the CTAs of what stays on the GPU had left" if left else ""
            print(f"  {s['offset_us']:3.0f} us: {min(held)} to {max(held)} held{own}")
    title("The same where the exchange had waited for a kernel, and a small one runs before the next")
    for scene, s, runs in all_scenes:
        if scene == "drained":
            held = [held_at_first(r) for r in runs]
            late = median((r["next kernel"]["first_start"] - r["kernel"]["last_end"]) / 1000 for r in runs)
            print(f"  {s['before']:24} next kernel {late:5.1f} us later: {min(held)} to {max(held)} held")


def multiplications(path):
    all_lines = lines_of(path)
    title("Matrix multiplications: time beside CTAs that were there first, as a multiple of that alone")
    print("  (they leave after so many times that time, or stay; and when CTAs that came later got in)")
    held = [(ctas, part) for ctas in (4, 8, 32) for part in (0.25, 0.55, 0.77, 4)]
    print(" " * 30 + "blocks " + " ".join(f"{c:2}:{'stay' if p > 1 else p:<4}" for c, p in held) + "  4 CTAs got in, 32 CTAs")
    for kernel in (d for d in all_lines if d["scene"] == "kernel"):
        alone = kernel["alone_us"]
        of_shape = [d for d in all_lines if d.get("shape") == kernel["shape"]]
        took = [median(d["took_us"] for d in of_shape if d["scene"] == "collective first" and d["ctas"] == c
                       and d["held_part"] == p) / alone for c, p in held]  # fmt: skip
        late = [sorted(d["cta_starts_us"][0] / alone for d in of_shape if d["scene"] == "kernel first" and d["ctas"] == c)
                for c in (4, 32)]  # fmt: skip
        grid = kernel["kernels"][-1][1]
        print(f"  {kernel['shape']:27} {grid[0] * grid[1] * grid[2]:6} " + " ".join(f"{t:7.2f}" for t in took)
              + "  " + ", ".join(f"{of[0]:.2f} to {of[-1]:.2f}" for of in late))  # fmt: skip


def urgent(path):
    all_scenes = scenes(path)
    title("Kernels of 1056 blocks that follow indices: blocks' times, as parts of a round")
    for scene, s, runs in all_scenes:
        if scene == "gather":
            kernels = [r["gather"] for r in runs]
            rounds = -(-1056 // (132 * int(s["gather"][0])))
            a_round = median(k["last_end"] - k["first_start"] for k in kernels) / rounds
            first = median(k["first_end"] - k["first_start"] for k in kernels) / a_round
            last = median(k["ends"][20 // rounds - 1] - k["first_start"] for k in kernels) / a_round
            print(f"  {s['gather']:30} {rounds} rounds of {a_round / 1e6:.2f} ms: first block ends at {first:.3f},"
                  f" nineteen in twenty of the round by {last:.3f}")  # fmt: skip
    alone_us = {(s["urgent"], s["asked"]): median(r["urgent"]["last_end"] - r["urgent"]["first_start"] for r in runs) / 1e3
                for scene, s, runs in all_scenes if scene == "urgent alone"}  # fmt: skip
    title("Urgent kernels that become ready in the first or second round: microseconds")
    print(f"  {'beside':30} {'urgent':30} blocks ready started   took alone kernel")
    for scene, s, runs in all_scenes:
        if scene != "urgent":
            continue
        of = [(r["delay"]["last_end"] - r["gather"]["first_start"], r["urgent"]["first_start"] - r["gather"]["first_start"],
               r["urgent"]["last_end"] - r["urgent"]["first_start"], r["gather"]["last_end"] - r["gather"]["first_start"])
              for r in runs]  # fmt: skip
        ready, start, took, kernel = (median(x) / 1e3 for x in zip(*of))
        print(f"  {s['gather']:30} {s['urgent']:30} {s['asked']:6} {ready:5.0f} {start:7.0f} {took:6.0f}"
              f" {alone_us[s['urgent'], s['asked']]:5.0f} {kernel:6.0f}")  # fmt: skip


def waiting(path):
    lines = [d for d in lines_of(path) if d["repeat"] > 0]
    title("Streams that wait for an event: microseconds between the queued kernels of another stream")
    print("  (one stream waits; by how many streams were first used between it and the other, in all orders of first use)")
    for apart in sorted({d["turns_apart"] for d in lines if d["scene"] == "one waits"}):
        of = [d["median"] for d in lines if d["scene"] == "one waits" and d["turns_apart"] == apart]
        print(f"  {apart} turns apart: {median(of):.2f}, {min(of):.2f} to {max(of):.2f} ({len(of)} times)")
    units = {"queued": "us between kernels queued on one stream", "hop within the group": "us from a stream to one of its group",
             "hop to the other group": "us from a stream to one of the other group", "copy": "GB/s of a host copy"}  # fmt: skip
    for scene, unit in units.items():
        of_scene = [d for d in lines if d["scene"] == scene]
        same, other = (sorted({d[key] for d in of_scene}) for key in ("same_group", "other_group"))
        print(f"  {unit}; waiting streams of the other group: " + " ".join(f"{o:6}" for o in other))
        for s in same:
            cells = [[d["median"] for d in of_scene if d["same_group"] == s and d["other_group"] == o] for o in other]
            print(f"    {s} of its group wait  " + " ".join(f"{median(c):6.2f}" if c else " " * 6 for c in cells))


def queues(path):
    lines = lines_of(path)
    title("The same beside copies: microseconds from a queued kernel to the next, by what another stream does")
    print("  (quick and slow: medians of the pairs of streams below and above 2 us without a copy, and how many these are)")
    gaps = [d for d in lines if "does" in d]
    copies = ("none", "to host", "to device")
    print(f"  {'':22}" + "".join(f"{'copy ' + c:>16}" for c in copies))
    alone = [median(d["ns"] for d in gaps if d["does"] == "idle" and d["copy"] == c) / 1e3 for c in copies]
    print(f"  {'nothing':22}" + "".join(f"{a:16.2f}" for a in alone))
    for does in ("waits", "waits for this one", "runs"):
        by_pair = collections.defaultdict(list)
        for d in gaps:
            if d["does"] == does:
                by_pair[d["on"], d["other"], d["copy"]].append(d["ns"] / 1e3)
        of = {pair: median(values) for pair, values in by_pair.items()}
        slow = {pair[:2] for pair, us in of.items() if pair[2] == "none" and us > 2}
        for name, among in (("quick", False), ("slow", True)):
            cells = [[us for pair, us in of.items() if pair[2] == c and (pair[:2] in slow) == among] for c in copies]
            print(f"  {does + ', ' + name:22}" + "".join(f"{median(c):10.2f} ({len(c):3})" if c else " " * 16 for c in cells))
    for what, unit in (("wait_ns", "a kernel to one of another stream that waits for it"),
                       ("launch_ns", "a launch on a stream that stands still to the host's sight of it")):  # fmt: skip
        print(f"  from {unit}")
        for name, among in (("no other stream waits", False), ("another stream waits", True)):
            cells = [[d[what] / 1e3 for d in lines if what in d and d["copy"] == c and (d["waiting"] >= 0) == among]
                     for c in copies]  # fmt: skip
            print(f"    {name:22}" + "".join(f"{median(c):14.2f}" for c in cells))


def alignment(path):
    lines = lines_of(path)
    title("Exchanges between two GPUs whose parts begin elsewhere than at multiples of 16 bytes")
    print("  (GB/s of a rank's buffer where all begin at such; pace, as a part of that, where the part that is sent does not,")
    print("  where what stays does not)")
    sizes = sorted({d["bytes"] for d in lines})
    print(f"  {'channels':14}" + "".join(f"{size >> 20:13} MiB" for size in sizes))
    for channels, through_host in (("2", False), ("4", False), ("8", False), ("16", False), (None, False), (None, True)):
        cells = ""
        for size in sizes:
            of = [d for d in lines if d["NCCL_MAX_NCHANNELS"] == channels and bool(d["NCCL_P2P_DISABLE"]) == through_host
                  and d["bytes"] == size]  # fmt: skip
            even = median(median(d["ms"]) for d in of if not d["one"] and not d["own"])
            sent = median(median(d["ms"]) for d in of if d["one"])
            own = median(median(d["ms"]) for d in of if d["own"] and not d["one"])
            cells += f"{size / even / 1e6:7.0f} {even / sent:4.2f} {even / own:4.2f}"
        print(f"  {'through host' if through_host else channels or 'all (32)':14}{cells}")


def copies(path):
    title("Two copies between host and GPU, the second issued right behind the first")
    print("  (MiB; ms by itself and beside the other; when the second began, from the first's begin)")
    found = collections.defaultdict(list)
    for d in lines_of(path):
        found[d["first"], d["second"], d["first_bytes"], d["second_bytes"]].append(d)
    for (first, second, first_bytes, second_bytes), runs in found.items():
        ms = {k: median(d[k] for d in runs) for k in runs[0] if k.endswith("_ms")}
        print(f"  {first:9} {first_bytes / 2**20:5.0f}  {ms['first_alone_ms']:6.2f} -> {ms['first_ms']:6.2f}"
              f"   {second:9} {second_bytes / 2**20:7.2f}  {ms['second_alone_ms']:6.3f} -> {ms['second_ms']:6.3f}"
              f"   began {ms['second_began_ms']:6.2f}, both done {ms['both_ms']:6.2f}")  # fmt: skip


def carveout(path):
    title("132 small blocks that come beside a kernel which leaves them threads, registers and shared memory enough")
    print("  (us from ready to the first / last start, where the other stays for 240; columns: shared memory a block, bytes)")
    all_scenes = [s for s in scenes(path) if s[0] == "carveout" and s[1]["blocks"] == 132]
    comers = sorted({int(s["comer"]) for _, s, _ in all_scenes})
    print(f"  {'beside':46}" + "".join(f"{c:9}" for c in comers))
    for holder in dict.fromkeys(s["holder"] for _, s, _ in all_scenes):
        cells = ""
        for c in comers:
            [runs] = [runs for _, s, runs in all_scenes if s["holder"] == holder and int(s["comer"]) == c]
            late = [[(r["comer"][k] - r["delay"]["last_end"]) / 1e3 for r in runs] for k in ("first_start", "last_start")]
            cells += f"{median(late[0]):5.0f}/{median(late[1]):3.0f}"
        print(f"  {holder:46}{cells}")


def main():
    folder = Path(sys.argv[1])
    one_gpu(folder / "one_gpu.jsonl.xz")
    two_gpus(folder / "two_gpus.jsonl.xz")
    multiplications(folder / "multiplications.jsonl.xz")
    urgent(folder / "urgent.jsonl.xz")
    waiting(folder / "waiting.jsonl.xz")
    queues(folder / "queues.jsonl.xz")
    alignment(folder / "alignment.jsonl.xz")
    copies(folder / "copies.jsonl.xz")
    carveout(folder / "carveout.jsonl.xz")


if __name__ == "__main__":
    main()
