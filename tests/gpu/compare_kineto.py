"""Compares the device work of two traces of one program: compare_kineto.py KINETO.json INTERLACE.json STEPS.

Of both, the work between the first and the last sleep kernel is taken (torch_mlp.py --bracket). Prints JSON: whether
each stream did the same work in the same order, and how far the durations differ. The two are traces of two runs, since
one process takes one profiler; so a duration is compared as the median over the steps of the same place in a step.
"""
import json
import re
import statistics
import sys

DEVICE_WORK = {"kernel", "gpu_memcpy", "gpu_memset"}


def device_work(file):
    """(start, duration, stream, name) of all device work, by start."""
    with open(file, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    work = []
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in DEVICE_WORK:
            work.append((event["ts"], event["dur"], (event["pid"], event["tid"]), event["name"]))
    return sorted(work)


def between_sleeps(work):
    sleeps = [i for i, one in enumerate(work) if "spin_kernel" in one[3]]
    if len(sleeps) < 2:
        raise SystemExit("no pair of sleep kernels in the trace")
    return work[sleeps[0] + 1 : sleeps[-1]]


def by_stream(work):
    """The work of each stream; streams in the order of their first work, since their numbers may differ."""
    streams = {}
    for one in work:
        streams.setdefault(one[2], []).append(one)
    return list(streams.values())


def squeeze(name):
    """Demanglers differ in spaces, and in how they spell the empty parts of templates."""
    return re.sub(r"\s+", "", name)


def compare_streams(first, second, steps):
    names_equal = [squeeze(one[3]) for one in first] == [squeeze(one[3]) for one in second]
    result = {"operations": [len(first), len(second)], "same_names_in_same_order": names_equal}
    if not names_equal:
        for i, (a, b) in enumerate(zip(first, second)):
            if squeeze(a[3]) != squeeze(b[3]):
                result["first_difference"] = [i, a[3][:200], b[3][:200]]
                break
        return result, []
    period = len(first) // steps
    places = []
    if period * steps != len(first):
        result["not_periodic"] = len(first)
        return result, []
    for place in range(period):
        kineto = statistics.median(one[1] for one in first[place::period])
        ours = statistics.median(one[1] for one in second[place::period])
        places.append({"name": first[place][3][:80], "kineto_us": kineto, "interlace_us": ours,
                       "ratio": ours / kineto if kineto else 1.0})
    return result, places


def main():
    steps = int(sys.argv[3])
    kineto, ours = (by_stream(between_sleeps(device_work(file))) for file in sys.argv[1:3])
    kineto.sort(key=len)
    ours.sort(key=len)
    answer = {"streams": [len(kineto), len(ours)], "compared": []}
    places = []
    for first, second in zip(kineto, ours):
        result, found = compare_streams(first, second, steps)
        answer["compared"].append(result)
        places += found
    answer["same_operations"] = len(kineto) == len(ours) and all(
        one["same_names_in_same_order"] for one in answer["compared"])
    if places:
        total = sum(one["kineto_us"] for one in places)
        answer["places"] = len(places)
        answer["total_ratio"] = sum(one["interlace_us"] for one in places) / total
        answer["places_within_2_percent"] = sum(abs(one["ratio"] - 1) <= 0.02 for one in places)
        answer["worst_places"] = sorted(places, key=lambda one: -abs(one["ratio"] - 1))[:5]
    print(json.dumps(answer))


main()
