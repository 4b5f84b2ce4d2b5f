#!/usr/bin/env python3
"""Times TorchRec's pipelines on one job without a profiler, then records each: a set that Interlace can be judged on.

usage: record_set.py SET.json OUT [--cores 0-15] [--seconds 300] [--turn FILE] [--port 29610]

SET.json describes the job (sets/*.json); `id_multiple` leaves out ids so that each feature and batch has a multiple of
that many. A schedule's `:spare` uses one stream before those of its pipeline, `:mended` makes lookups on a stream of
their own safe (docs/check.md, *A run that went wrong*).

Writes to OUT/<tag>: <tag>.r<rank>.json, what each schedule took and reserved; <schedule>.r<rank>.json.gz, the recording
of the PyTorch profiler; and where the set asks for memory <schedule>.mem.r<rank>.json.gz and .snap.pickle, a window of
four steps with allocator events and its snapshot. tools/accuracy judges predictions on such folders.

With --interlace FILE, the program interlace-record, schedules are recorded by it instead, to OUT/<tag>/<schedule>, and
measured under it while recording is off; memory is then part of each recording.

Needs a GPU a rank, torch, and torchrec with fbgemm-gpu (written for TorchRec 1.6.1). Each schedule has processes of its
own; they import and make their batches side by side, and take turns on the GPUs, on the named CPU cores (start this
program on others: `taskset -c 16-31 record_set.py ... --cores 0-15`). Sets that share a --turn file take turns as well,
so that one may prepare while another is timed.
"""

import argparse
import fcntl
import gzip
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

POLL_S = 0.02
WINDOW_STEPS = 4  # of a recording with allocator events, unless the set says otherwise ("window")


def stem(schedule):
    """fused:s=new -> fused_snew, as the files are named."""
    return schedule.replace(":", "_").replace("=", "")


def use_one_more_stream(device):
    """Moves the streams that are first used after this to the other of a GPU's two queues (docs/contention.md)."""
    import torch

    with torch.cuda.stream(torch.cuda.Stream(device)):
        torch.ones(1, device=device)
    torch.cuda.synchronize()


def mend_lookups():
    """Lookups wait for the stream that sorts their ids, which are recorded on the lookups' stream as well (#4497)."""
    import torch
    from torchrec.distributed.train_pipeline import train_pipelines

    def start_lookup(module, context, source_stream, target_stream, stream_context):
        name = module.forward.name
        with stream_context(source_stream):
            features = context.input_dist_tensors_requests[name].wait()
        own = torch.cuda.current_stream()
        own.wait_stream(source_stream)
        for stream in (own, target_stream):
            features.record_stream(stream)
            context.module_contexts[name].record_stream(stream)
        context.embedding_a2a_requests[name] = module.compute_and_output_dist(context.module_contexts[name], features)

    train_pipelines._start_embedding_lookup = start_lookup


def make_pipeline(schedule, model, optimizer, device):
    from torchrec.distributed.train_pipeline import train_pipelines

    kind, *settings = schedule.split(":")
    options = dict(s.split("=") if "=" in s else (s, True) for s in settings)
    if "spare" in options:
        use_one_more_stream(device)
    if "mended" in options:
        mend_lookups()
    common = {"model": model, "optimizer": optimizer, "device": device}
    in_place = {"enable_inplace_copy_batch": "inplace" in options}
    if kind == "base":
        return train_pipelines.TrainPipelineBase(**common, **in_place)
    if kind == "sparse":
        return train_pipelines.TrainPipelineSparseDist(
            **common, **in_place, enqueue_batch_after_forward="eaf" in options
        )
    if kind == "sparse_lite":
        return train_pipelines.TrainPipelineSparseDistLite(**common, **in_place)
    if kind == "fused":
        return train_pipelines.TrainPipelineFusedSparseDist(**common, **in_place, emb_lookup_stream=options["s"])
    if kind == "semi":
        return train_pipelines.TrainPipelineSemiSync(**common, start_batch=0)
    sys.exit(f"record_set.py: unknown schedule {schedule}")


def tables_of(job):
    from torchrec.modules.embedding_configs import EmbeddingBagConfig

    def named(count, prefix):
        return [
            EmbeddingBagConfig(
                num_embeddings=job["rows"],
                embedding_dim=job["dim"],
                name=f"{prefix}table_{i}",
                feature_names=[f"{prefix}feature_{i}"],
            )
            for i in range(count)
        ]

    return named(job["tables"], ""), named(job["wtables"], "weighted_")


def make_batches(job, tables, weighted):
    from torchrec.distributed.test_utils.input_config import ModelInputConfig

    batches = ModelInputConfig(
        num_batches=job["nb"],
        batch_size=job["bs"],
        num_float_features=job["floats"],
        feature_pooling_avg=job["pool"],
        pin_memory=False,  # that would take the GPU before its turn
    ).generate_batches(tables, weighted)
    for batch in batches if "id_multiple" in job else []:
        batch.idlist_features = in_whole_parts(batch.idlist_features, job["id_multiple"])
        batch.idscore_features = in_whole_parts(batch.idscore_features, job["id_multiple"])
    return batches


def in_whole_parts(features, multiple):
    """Without the last few ids of each feature, so that a batch has a multiple of so many of it.

    With four, what table-wise sharding sends to each rank begins at a multiple of 16 bytes (docs/contention.md).
    """
    import torch
    from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

    lengths = features.lengths().view(len(features.keys()), -1).clone()
    kept = []
    start = 0
    for of_feature in lengths:
        end = start + int(of_feature.sum())
        spare = (end - start) % multiple
        kept.append(torch.arange(start, end - spare))
        for bag in range(len(of_feature) - 1, -1, -1):
            taken = min(spare, int(of_feature[bag]))
            of_feature[bag] -= taken
            spare -= taken
            if spare == 0:
                break
        start = end
    kept = torch.cat(kept)
    weights = features.weights_or_none()
    return KeyedJaggedTensor(
        keys=features.keys(),
        values=features.values()[kept],
        weights=None if weights is None else weights[kept],
        lengths=lengths.view(-1),
    )


def pin(batches):
    for batch in batches:
        for name, value in list(vars(batch).items()):
            if hasattr(value, "pin_memory"):
                setattr(batch, name, value.pin_memory())


def make_model(job, tables, weighted, group, device):
    """TorchRec's benchmark model, its tables sharded, with fused SGD; and the optimizer of its dense part."""
    from fbgemm_gpu.split_embedding_configs import EmbOptimType
    from torchrec.distributed.test_utils.model_config import TestSparseNNConfig
    from torchrec.distributed.test_utils.sharding_config import PlannerConfig, ShardingConfig
    from torchrec.distributed.types import ShardingType

    shape = {
        "dense_arch_out_size": job["dao"],
        "over_arch_out_size": job["oao"],
        "over_arch_hidden_layers": job["ohl"],
    }
    model = TestSparseNNConfig(num_float_features=job["floats"], submodule_kwargs=shape).generate_model(
        tables, weighted, device, mc_configs=None
    )
    planner = PlannerConfig(
        world_size=job["world"],
        device_group=device.type,
        batch_size=job["bs"],
        sharding_type=ShardingType(job["sharding"]),
    ).generate_planner(tables + weighted)
    fused = {"optimizer": EmbOptimType.EXACT_SGD, "learning_rate": 0.1}
    return ShardingConfig(
        fused_params=fused, dense_optimizer="SGD", dense_lr=0.1
    ).generate_sharded_model_and_optimizer(model, group, device, planner)


def timed(pipeline, loader, steps):
    """As the measurement files have it: times in ms, bytes at their peak."""
    import torch

    torch.cuda.reset_peak_memory_stats()
    marks, host = [], []

    def mark():
        marks.append(torch.cuda.Event(enable_timing=True))
        marks[-1].record()

    begin = time.perf_counter()
    for _ in range(steps):
        mark()
        at = time.perf_counter()
        pipeline.progress(loader)
        host.append((time.perf_counter() - at) * 1e3)
    mark()
    torch.cuda.synchronize()
    found = {
        "mean_ms": (time.perf_counter() - begin) * 1e3 / steps,
        "step_ms": [a.elapsed_time(b) for a, b in itertools.pairwise(marks)],
        "cpu_ms": host,
    }
    memory = torch.cuda.memory_stats()
    for name in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes"):
        found[name] = memory[f"{name}.all.peak"]
    return {**found, "retries": memory["num_alloc_retries"], "segments": memory["segment.all.current"]}


def recorded(pipeline, loader, steps, allocations):
    """The profile, and ms a step under it. A profile's device records are gone once the next one begins."""
    import torch
    from torch._C._profiler import _ExperimentalConfig

    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(
        activities=[kinds.CPU, kinds.CUDA],
        profile_memory=allocations,
        experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True),
    ) as profile:
        begin = time.perf_counter()
        for _ in range(steps):
            pipeline.progress(loader)
        torch.cuda.synchronize()
        took = (time.perf_counter() - begin) * 1e3 / steps
    return profile, took


def record_memory(pipeline, loader, steps, out, name):
    import torch

    torch.cuda.memory._record_memory_history(max_entries=1_000_000, context=None)
    profile, _ = recorded(pipeline, loader, steps, allocations=True)
    snapshot = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    profile.export_chrome_trace(str(out / f"{name.replace('.r', '.mem.r')}.json"))
    with open(out / f"{name.replace('.r', '.mem.r')}.snap.pickle", "wb") as file:
        pickle.dump(snapshot, file)


def recorded_by_interlace(pipeline, loader, steps, unrecorded):
    """Ms a step while `interlace record` records. unrecorded: how many steps took how many ms each without."""
    import ctypes

    import torch

    collector = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    assert collector.interlace_collector_start(None), "interlace record does not record"
    count, each = unrecorded
    with torch.profiler.record_function(f"unrecorded steps: {count} in {round(count * each * 1e6)} ns"):
        pass
    begin = time.perf_counter()
    for _ in range(steps):
        pipeline.progress(loader)
    torch.cuda.synchronize()
    took = (time.perf_counter() - begin) * 1e3 / steps
    collector.interlace_collector_stop()
    return took


def move_to(cores):
    """All threads of this process, those to come included."""
    for thread in os.listdir("/proc/self/task") if cores else []:
        os.sched_setaffinity(int(thread), cores)


def take_turn(out, name, rank):
    """Says that this rank is ready, waits for its turn, and moves to the cores of those that are timed."""
    (out / f"{name}.ready.{rank}").touch()
    go = out / f"{name}.go"
    while not go.exists():
        time.sleep(POLL_S)
    move_to(json.loads(go.read_text()))


def finish(out, name, rank, result, cores, profile=None):
    (out / f"{name}.done.{rank}").touch()
    move_to(cores)  # writing the profile out would disturb whoever is timed next
    if profile is not None:
        profile.export_chrome_trace(str(out / f"{name}.r{rank}.json"))
    (out / f"{name}.result.{rank}").write_text(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # batches still in flight are nobody's concern


def run_rank(asked):
    import torch
    import torch.distributed as dist

    job, out = json.loads(Path(asked.set).read_text()), Path(asked.out)
    name, rank = stem(asked.schedule), asked.rank
    cores_before = os.sched_getaffinity(0)
    torch.manual_seed(1000 + rank)
    tables, weighted = tables_of(job)
    batches = make_batches(job, tables, weighted)
    take_turn(out, name, rank)

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(asked.port), RANK=str(rank), LOCAL_RANK=str(rank))
    os.environ.update(WORLD_SIZE=str(job["world"]), LOCAL_WORLD_SIZE=str(job["world"]))
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl")

    def together():
        torch.cuda.synchronize()
        dist.all_reduce(torch.zeros(1))  # on CPUs: no kernel of ours on the GPU

    pin(batches)
    model, optimizer = make_model(job, tables, weighted, dist.group.WORLD, device)
    model.train()
    loader = itertools.cycle(batches)
    pipeline = make_pipeline(asked.schedule, model, optimizer, device)
    for _ in range(job["warm"]):
        pipeline.progress(loader)
    together()
    result = timed(pipeline, loader, job["iters"])
    together()
    if asked.interlace:
        unrecorded = (job["iters"], result["mean_ms"])
        result["recorded_mean_ms"] = recorded_by_interlace(pipeline, loader, job["trace"], unrecorded)
        together()
        finish(out, name, rank, result, cores_before)
    recorded(pipeline, loader, 1, allocations=False)  # what only a first profile costs
    together()
    if job.get("memory"):
        record_memory(pipeline, loader, job.get("window", WINDOW_STEPS), out, f"{name}.r{rank}")
        pipeline.progress(loader)
        together()
    profile, result["profiled_mean_ms"] = recorded(pipeline, loader, job["trace"], allocations=False)
    together()
    finish(out, name, rank, result, cores_before, profile)


class Set:
    """One job: its processes, and their turns."""

    def __init__(self, asked):
        self.job = json.loads(Path(asked.set).read_text())
        self.schedules = self.job["schedules"]
        self.out = Path(asked.out) / self.job["tag"]
        self.out.mkdir(parents=True, exist_ok=True)
        self.clear_marks()  # of a run that was interrupted
        self.deadline = time.time() + asked.seconds
        self.ranks = range(self.job["world"])
        self.children = {s: [self.start(asked, i, s, r) for r in self.ranks] for i, s in enumerate(self.schedules)}

    def clear_marks(self):
        for pattern in ("*.ready.*", "*.done.*", "*.result.*", "*.go", "*.go.part", "turn", "ready"):
            for path in self.out.glob(pattern):
                path.unlink()

    def start(self, asked, index, schedule, rank):
        words = [sys.executable, __file__, asked.set, self.out, "--rank", rank, "--schedule", schedule]
        words += ["--port", asked.port + index]
        if asked.interlace:
            recorder = [asked.interlace, "--start-off", "--out", self.out / stem(schedule), "--overwrite", "--"]
            words = [*recorder, *words, "--interlace", asked.interlace]
        with open(self.out / f"{stem(schedule)}.log.{rank}", "w") as log:
            return subprocess.Popen(
                [str(word) for word in words],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.job.get("env", {})},
            )

    def say(self, *words):
        print(time.strftime("%T"), self.job["tag"], *words, file=sys.stderr, flush=True)

    def all_have(self, mark, schedule):
        files = [self.out / f"{stem(schedule)}.{mark}.{rank}" for rank in self.ranks]
        while not all(file.exists() for file in files):
            died = any(child.poll() not in (None, 0) for child in self.children[schedule])
            if died or time.time() > self.deadline:
                return False
            time.sleep(POLL_S)
        return True

    def run(self, turn, cores):
        """True where every schedule was timed and recorded."""
        sound = all([self.all_have("ready", schedule) for schedule in self.schedules])
        (self.out / "ready").touch()
        self.say("ready")
        with open(turn or self.out / "turn", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for schedule in self.schedules:
                part = self.out / f"{stem(schedule)}.go.part"
                part.write_text(json.dumps(cores))
                part.rename(part.with_suffix(""))  # whole from the moment that it is there
                done = self.all_have("done", schedule)
                self.say(schedule, "timed and recorded" if done else f"failed: {self.out / stem(schedule)}.log.*")
                sound = sound and done
                for child in self.children[schedule] if not done else []:
                    child.kill()
        for child in itertools.chain.from_iterable(self.children.values()):
            try:
                sound = child.wait(max(1, self.deadline - time.time())) == 0 and sound
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                sound = False
        return sound

    def gather(self):
        """Puts what was measured into one file a rank, packs the recordings, and leaves nothing else behind."""
        facts = {key: value for key, value in self.job.items() if key != "schedules"}
        for rank in self.ranks:
            results = {}
            for schedule in self.schedules:
                file = self.out / f"{stem(schedule)}.result.{rank}"
                if file.exists():
                    results[schedule] = json.loads(file.read_text())
                    (self.out / f"{stem(schedule)}.log.{rank}").unlink()
            measured = self.out / f"{self.job['tag']}.r{rank}.json"
            measured.write_text(json.dumps({"args": facts, "results": results}, indent=1) + "\n")
        for path in self.out.glob("*.json"):
            if path.name.startswith(f"{self.job['tag']}.r"):
                continue
            with open(path, "rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=6) as packed:
                shutil.copyfileobj(plain, packed)
            path.unlink()
        self.clear_marks()


def cores_of(text):
    """0-3,8 -> [0, 1, 2, 3, 8]"""
    ends = [part.split("-") for part in text.split(",") if part]
    return [core for pair in ends for core in range(int(pair[0]), int(pair[-1]) + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("out")
    parser.add_argument("--cores", default="", help="CPU cores of the processes that are timed; all unless given")
    parser.add_argument("--seconds", type=float, default=300, help="what is not done by then is ended")
    parser.add_argument("--turn", help="a file that sets share to take turns")
    parser.add_argument("--port", type=int, default=29610, help="the first of as many ports as schedules")
    parser.add_argument("--interlace", help="the program interlace-record, to record with it")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--schedule", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.rank is not None:
        run_rank(asked)
    one = Set(asked)
    sound = one.run(asked.turn, cores_of(asked.cores))
    one.gather()
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
