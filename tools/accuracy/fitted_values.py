"""The numbers of the model that are not derived from the recording at hand, read from the sources, and their origin."""

import re
from dataclasses import dataclass
from pathlib import Path


class ConstantMoved(Exception):
    pass


@dataclass(frozen=True)
class Constant:
    """`pattern` has one group, or several, that hold the value in the file's text; `{name}` stands for the name."""

    name: str
    file: str
    what: str
    origin: str
    pattern: str = r"\b{name}\s*(?:=|\{{)\s*([^;}}]+?)\s*[;}}]"

    def value(self, root):
        text = (Path(root) / self.file).read_text()
        found = re.findall(self.pattern.format(name=re.escape(self.name)), text)
        if len(found) != 1:
            raise ConstantMoved(
                f"{self.name} stands {len(found)} times in {self.file}: adapt tools/accuracy/fitted_values.py"
            )
        parts = found[0] if isinstance(found[0], tuple) else (found[0],)
        return ", ".join(part.replace("'", "").strip() for part in parts)


SLOWDOWN = "simulator/contention/slowdown.hpp"
SLOWDOWN_CPP = "simulator/contention/slowdown.cpp"
KERNEL_SHAPE = "simulator/contention/kernel_shape.hpp"
KERNEL_SHAPE_CPP = "simulator/contention/kernel_shape.cpp"
GPU = "simulator/contention/gpu.hpp"
GPU_CPP = "simulator/contention/gpu.cpp"
MACHINE = "simulator/replay/machine.hpp"
SIMULATION = "simulator/replay/simulation.hpp"
SIMULATION_CPP = "simulator/replay/simulation.cpp"
PREDICT = "simulator/replay/predict.hpp"
PREDICT_CPP = "simulator/replay/predict.cpp"
COSTS = "simulator/replay/site_costs.cpp"
KERNEL_COSTS = "simulator/replay/kernel_costs.cpp"
COLLECTIVE_COSTS = "simulator/replay/collective_costs.cpp"
JAGGED_EXCHANGES = "simulator/replay/jagged_exchanges.cpp"
ALIGNMENT = "exchanges of 2 to 320 MiB by 2 to 32 CTAs of two H200s (docs/benchmarks/placement, 12)"
SITES = "simulator/replay/sites.hpp"
HOST_PACE = "simulator/replay/host_pace.cpp"
HOST_PACE_HPP = "simulator/replay/host_pace.hpp"
HOST_DISTURBANCE = "simulator/replay/host_disturbance.hpp"
OBSERVATION_CPP = "simulator/replay/observation.cpp"

WAITING_AND_MOVING = r"\b{name}\{{\.waiting = ([\d.]+), \.moving = ([\d.]+)\}}"
PAIR = r"\b{name}\{{([\d.]+, [\d.]+)\}}"
SHARE = r"{{([\d.]+, [\d.]+)}};"

FITTED = (
    Constant(
        "kStreamingSensitivity",
        SLOWDOWN,
        "extra time of kernels that stream memory beside a collective of 32 CTAs, one that waits and one that moves "
        "data; used where the recording does not show the kernel both alone and covered",
        "medians over kernels of 26 jobs of the engine and of TorchRec that were seen by themselves and covered",
        WAITING_AND_MOVING,
    ),
    Constant(
        "kGatherSensitivity",
        SLOWDOWN,
        "the same for kernels that follow indices",
        "the same jobs",
        WAITING_AND_MOVING,
    ),
    Constant(
        "kHalfOfMemory",
        GPU_CPP,
        "pace of a copy within device memory, and of a kernel that uses up its bandwidth, beside each other",
        "the shared bandwidth; copies of t6 and t9 on H100s, which take 1.9 and 1.4 times as long, and list_uses",
    ),
    Constant(
        "kEnoughSmsForCopy",
        GPU_CPP,
        "part of the SMs that such a copy needs for its pace by itself",
        "copies of t7 and t9 on H100s beside multiplications that leave four SMs",
    ),
    Constant(
        "kLostToHostCopies",
        SLOWDOWN,
        "part of its progress that a collective through host memory loses while any rank copies from the host",
        "slopes of 0.33 to 0.38 over the schedules of n5 and t9, of 0.28 to 0.52 over those of four jobs on two quiet H200s",
    ),
    Constant(
        "kLostDirect",
        SLOWDOWN,
        "part of its progress that a collective over direct links loses beside a kernel that streams device memory, and "
        "beside one that follows indices",
        "slopes over the schedules of t2, t6, c6, n6 and t7: 0.26 to 0.46, and 0.07 to 0.18",
        PAIR,
    ),
    Constant(
        "kLostDirectJagged",
        SLOWDOWN,
        "the same of an exchange of jagged inputs",
        "the same sets: 0.61 to 0.83; beside those that follow indices it is not seen cleanly",
        PAIR,
    ),
    Constant(
        "kLostThroughHost",
        SLOWDOWN,
        "the same of a collective through host memory",
        "n5 and t9: 0 to 0.3 (the larger in forward, none in t9's all-gathers), and 0 to 0.25",
        PAIR,
    ),
    Constant(
        "kLostThroughHostJagged",
        SLOWDOWN,
        "the same of an exchange of jagged inputs through host memory",
        "n5 and t9: 0.44 to 0.73",
        PAIR,
    ),
    Constant(
        "kStreamsMemoryNs",
        SLOWDOWN,
        "time (ns) from which on a streaming kernel's data do not fit into the L2 cache",
        "50 MB of cache at about 4 TB/s, rounded up",
    ),
    Constant(
        "kKernelFirst",
        "simulator/replay/race_odds.cpp",
        "part of the meetings of a collective and a kernel that the kernel wins: where a kernel released both; a "
        "collective, and the kernel's stream had issued the other; a collective, another stream",
        "1353 of 1778, 1301 of 1706 and 1485 of 2328 meetings in recordings of t2 to n6, x2 to y3 and the engine",
    ),
    Constant(
        "kLostToWait",
        "simulator/replay/race_odds.cpp",
        "what one wait more in front of a kernel takes from the logarithm of its odds against a collective, where the end "
        "of another released both",
        "the same pairs behind one wait and behind two: 0.71 -> 0.24 over 25 pairs of the engine (2.0), 0.75 -> 0.53 over "
        "124 of TorchRec (1.0); the mean of the two",
    ),
    Constant(
        "kFetchBesideWork",
        "simulator/replay/fetch_delays.hpp",
        "what a kernel starts later (ns) while another stream whose commands come through the same queue has unfinished work",
        "chains of kernels on one H200 (docs/benchmarks/placement, 9 and 10)",
    ),
    Constant(
        "kFetchBesideCopies",
        "simulator/replay/fetch_delays.hpp",
        "the same while a copy from the host runs",
        "the same chains",
    ),
    Constant(
        "kSharedError",
        "simulator/replay/anchor.cpp",
        "part of what the replay of the recorded schedule is off from a run without the recorder that predictions of others "
        "are off, too (logarithms)",
        "slope of the one over the other: 0.65 over 380 predicted schedules of c6 to n6, x2 to z6 and the campaigns (0.39 to "
        "0.88 by a bootstrap over their recordings), 0.51 over 104 of campaigns where the recording itself tells that step "
        "(docs/benchmarks/accuracy/shared_error.json)",
    ),
    Constant(
        "kSharedHiddenError",
        "simulator/cli/overlap_anchor.cpp",
        "part of what the replay of the recorded schedule hides too much or too little of communication that predictions of "
        "others do, too (logarithms of hidden over exposed)",
        "slope of the one over the other: 0.62 over 99 predicted schedules of the campaigns, 0.71 over 236 of TorchRec's given "
        "sets, 0.30 over 480 on a slow host (docs/benchmarks/accuracy/shared_hidden_error.json)",
    ),
    Constant(
        "kUsualMeetings",
        "simulator/replay/race_odds.cpp",
        "meetings that the usual odds count for beside those that a recording shows, and its own beside those of a pair",
        "a choice: half of what a recording of eight steps shows of a pair",
    ),
    Constant(
        "kRace",
        "simulator/replay/machine.cpp",
        "time (ns) within which a kernel and a collective must become ready to race",
        "853 races in the sets, 256 in the engine's campaigns: the second to start came 1 to 4 us later than it did without a rival",
    ),
    Constant(
        "kBesideOtherDirection",
        "simulator/replay/machine.cpp",
        "pace of a copy between host and GPU beside one in the other direction",
        "512 and 128 MiB each way on one H200, PCIe 5: 0.91 to 0.94 (docs/benchmarks/placement, 13)",
    ),
    Constant(
        "kMostOfExchanges",
        COLLECTIVE_COSTS,
        "standard deviation of a collective's time from step to step, as a part of it, at most",
        "a choice: more than that is something else than the collective's own",
    ),
    Constant(
        "kUsualCopyRate",
        COLLECTIVE_COSTS,
        "pace of a host copy beside a collective through host memory, where the recording does not show it",
        "two ranks: 0.75 in n5, 0.76 to 0.80 in four jobs of the engine; four: 0.42 in t9, 0.59 in the engine's",
    ),
    Constant(
        "kManyRounds",
        KERNEL_SHAPE_CPP,
        "rounds of blocks from which on a matrix multiplication loses more SMs beside a collective than that holds",
        "kernels of 3 and 3.9 rounds lose none, those of 5.8 do (five jobs through few channels)",
    ),
    Constant(
        "kIdleBesideCluster",
        KERNEL_SHAPE_CPP,
        "the SMs that it loses more",
        "six of nine kernels took one round more than 128 SMs ask for; 5 makes these six come out",
    ),
    Constant(
        "kLeastFreeSms",
        GPU_CPP,
        "free SMs below which a collective does not start",
        "t7 and t9 (none started beside a kernel on 128 of 132 SMs), c6 (one started beside 124)",
    ),
    Constant(
        "kClusterLaunchNs",
        GPU,
        "time to place one cluster of a collective",
        "n6: what a matrix multiplication lost that began just behind a collective",
    ),
    Constant(
        "Shares of an urgent kernel and one of up to 30 rounds",
        GPU_CPP,
        "the same beside a kernel of at most 30 rounds that is not bound by compute",
        "as above; the bound of 30 rounds too",
        r"waves <= 30\.0 && [^)]+\) return " + SHARE,
    ),
    Constant(
        "Shares of an urgent kernel and one of many rounds",
        GPU_CPP,
        "the same beside a kernel of more rounds",
        "as above",
        r"\n  return " + SHARE,
    ),
    Constant(
        "kJaggedPart",
        JAGGED_EXCHANGES,
        "bandwidth of an all-to-all of jagged inputs by itself, at least, as a part of a pooled one's, where the recording "
        "does not tell where its parts begin",
        "recordings of base in c6, n6 and t2",
    ),
    Constant(
        "kUnevenPart",
        JAGGED_EXCHANGES,
        "pace of an exchange whose parts begin at other than multiples of 16 bytes, by that of two ranks whose parts do",
        ALIGNMENT,
    ),
    Constant("kUnevenCta", JAGGED_EXCHANGES, "at most so many bytes a nanosecond and CTA", ALIGNMENT),
    Constant(
        "kOwnUnevenPart",
        JAGGED_EXCHANGES,
        "the same as a part where only what stays on a rank begins so",
        ALIGNMENT,
    ),
    Constant("kOwnUnevenCta", JAGGED_EXCHANGES, "the same a CTA there", ALIGNMENT),
    Constant(
        "kStartup",
        JAGGED_EXCHANGES,
        "time (ns) that such an exchange may take besides its bytes",
        "the same recordings, by eye",
    ),
    Constant(
        "kLeastStartup",
        JAGGED_EXCHANGES,
        "time (ns) that such an exchange takes besides its bytes at the pooled ones' bandwidth, at least",
        "exchanges of 112 and 224 bytes in t2, t7 and n6",
    ),
    Constant(
        "kOwnTimeOfBlock",
        KERNEL_SHAPE_CPP,
        "ns that a block which follows indices needs however few run",
        "326 row updates of 20 jobs of the engine that found a collective in place (docs/contention.md)",
    ),
    Constant(
        "kLostBesideCtas",
        KERNEL_SHAPE_CPP,
        "part of its time that it takes longer beside 32 CTAs of collectives",
        "the same",
    ),
    Constant(
        "kRoundSpread",
        KERNEL_SHAPE,
        "how far the first and the last blocks of a round that follow indices end from the mean one, as a part of it",
        "blocks of 0.9 ms measured by themselves (docs/benchmarks/placement)",
    ),
    Constant(
        "kMoreSharedKib",
        KERNEL_SHAPE,
        "KiB of shared memory by which a kernel may surpass the one that it joins on an SM",
        "blocks of fifteen sizes beside those of eight, measured by themselves (docs/benchmarks/placement, 14)",
    ),
    Constant(
        "kUsualHostScale",
        SITES,
        "host time without the profiler, as a part of the recorded, where the recording does not tell",
        "speed-ups of the sets above, and of thirteen and eleven jobs on slower hosts, come out best between 0.63 and 0.71",
    ),
    Constant(
        "kLikelyScale",
        HOST_PACE_HPP,
        "the same before the recording's steps without the recorder tell",
        "between the profiler's, above, and 0.73 to 0.76, which suit the collector's 34 campaigns best",
    ),
    Constant(
        "kUnevenHosts",
        HOST_DISTURBANCE,
        "times that a host thread may take beside the same one of the quickest rank before it counts as disturbed",
        "157 recordings: nine tenths of ranks lie within 1.18 to 1.35 of each other, disturbed ones go to 2.0",
    ),
    Constant(
        "kUnevenIterations",
        HOST_DISTURBANCE,
        "times that a host thread may take in one iteration, by its median, before it counts as disturbed",
        "101 recordings: in 97 no iteration goes beyond 1.64 times, in three of a stalled machine to 2 to 6",
    ),
    Constant(
        "kLeastPart",
        OBSERVATION_CPP,
        "part of what a kernel takes by itself below which an instance had next to nothing to do",
        "a choice: an update of 930 us took 12 where its lookup had not waited for its input",
    ),
    Constant(
        "kSyncReturnNs",
        SIMULATION_CPP,
        "from the end of what the host waited for until it runs on",
        "the feasibility study on t2 to t9",
    ),
    Constant(
        "kUsualWait",
        COSTS,
        "from the end of a collective to the kernel that waited for it, where a recording shows fewer than eight",
        "lower quartiles of all sets: 1.5 to 1.8 us",
    ),
    Constant(
        "kUsualCollectiveGap",
        COSTS,
        "between two collectives of a stream, where a recording shows fewer than eight",
        "medians of all sets: 1.5 to 1.9 us (of a recording that shows enough, the lower quartile)",
    ),
    Constant(
        "kSameWork",
        KERNEL_COSTS,
        "shortest times of kernels of one name and grid on side streams by which they still do the same work",
        "a choice, well below two kernels of t6 that take 0.40 and 0.79 ms by themselves",
    ),
    Constant("kGapSpread", SIMULATION_CPP, "spread of single host times", "equal calls over the steps of n5 and n6"),
    Constant("kPaceSpread", SIMULATION_CPP, "spread of the pace of whole steps", "the same"),
    Constant(
        "kHostSpread",
        PREDICT_CPP,
        "spread of host_scale over the runs of a prediction",
        "scales at which 30 recordings are replayed as fast as they were without the profiler spread by 0.12 of their mean, "
        "0.14 about the usual one (docs/benchmarks/host/scales.txt), and the runs by 0.87 of this number; from 0.10 to 0.15 "
        "figures above move by luck alone (0.10, 0.12, 0.14, 0.15: order 157, 156, 155 and 159 of 165 by the default seed; "
        "How much of this is luck), and intervals hold more of the jobs that the host decides",
    ),
    Constant("kLatencySpread", PREDICT_CPP, "spread of the launch latency (ns) over those runs", "spread in one trace"),
    Constant(
        "kLargestLatencySpread",
        PREDICT_CPP,
        "largest of these spreads, of the latency itself",
        "chosen, not fitted: the run with the smallest latency keeps two thirds of it",
    ),
    Constant(
        "model_error",
        PREDICT,
        "what the model itself may be off by, added to every interval",
        "the speed-up errors of this very page, over all sets but the bimodal one: how often an interval here covers "
        "the measurement is therefore no independent evidence",
    ),
)

CHOSEN = (
    Constant("kClusterCtas", GPU_CPP, "CTAs of a cluster of NCCL's kernels", "NCCL's own on compute capability 9.0"),
    Constant("kGpcs", GPU_CPP, "parts of the GPU that a cluster must not straddle", "the hardware"),
    Constant("kReferenceCtas", KERNEL_SHAPE, "CTAs that the sensitivities refer to", "NCCL's, over NVLink here"),
    Constant("kMostCtas", KERNEL_SHAPE, "CTAs beyond which the slowdown grows no more", "a guard, beyond all seen"),
    Constant("kFewWaves", GPU_CPP, "rounds of blocks up to which they are simulated one by one", "a choice"),
    Constant(
        "kFastestPcie", COLLECTIVE_COSTS, "GB/s above which collectives must have direct links", "PCIe 5, 16 lanes"
    ),
    Constant(
        "kFastestCta",
        COLLECTIVE_COSTS,
        "GB/s of one CTA above which collectives must have direct links",
        "between the 10 to 13 of seven recordings through host memory and the 29 of two channels of NVLink",
    ),
    Constant("kBriefCopyNs", GPU_CPP, "ns below which a copy within device memory is not held up", "a choice"),
    Constant(
        "kStrongest",
        KERNEL_COSTS,
        "largest sensitivity that a recording is believed to show",
        "a guard; `count_ids` of `t9_4_ranks` has 1.2",
    ),
    Constant(
        "kScaleSpread",
        HOST_PACE,
        "how far that may be off, beside what the recording tells of its steps without the recorder",
        "a choice: profiler and collector left 0.5 to 0.97 of the host time",
    ),
    Constant(
        "kRatioSpread",
        HOST_PACE,
        "how far the ratio of two replayed step times may be off there",
        "replayed over recorded step times of 26 campaigns: 0.023",
    ),
    Constant("iterations", SIMULATION, "steps simulated a run where nobody says otherwise", "a choice"),
    Constant("warm_up", SIMULATION, "of these, steps until the pipeline is steady", "a choice"),
    Constant("runs", PREDICT, "simulations a prediction, each with its own seed and draws", "a choice"),
)

LEARNED = (
    "time of every kernel without company: the recorded instances, each freed of the collectives beside it",
    "how strongly collectives slow a kernel, where the recording shows it alone and covered at least twice each",
    "transfer time of every collective by rank, from the last arrival; the spread of each over the steps; of jagged "
    "exchanges that stand by themselves, and all through host memory, the time of each batch",
    "what collectives lose beside a kernel, where the recording shows exchanges of one size alone and beside it at least "
    "twice each",
    "launch latency (9 us where the recording has fewer than eight launches on an idle stream) and the gaps between "
    "queued works",
    "whether collectives pass through host memory, the pace of host copies beside them, and theirs beside host copies",
    "host gaps and call durations, step by step; where the recording tells how long steps took without the recorder, "
    "what part of them is the recorder's",
)
