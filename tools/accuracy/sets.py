"""Which recorded jobs the accuracy is judged on, and how their files are named."""

# The name of a schedule in the measurement files, and Interlace's.
SCHEDULES = {
    "base": "torchrec/base",
    "sparse": "torchrec/sparse_dist",
    "sparse:inplace": "torchrec/sparse_dist_inplace",
    "sparse:eaf": "torchrec/sparse_dist_enqueue_after_forward",
    "sparse_lite": "torchrec/sparse_dist_lite",
    "fused:s=data_dist": "torchrec/fused_sparse_dist",
    "fused:s=new": "torchrec/fused_sparse_dist_new_stream",
    "fused:s=current": "torchrec/fused_sparse_dist_current_stream",
    "semi": "torchrec/semi_sync",
}
SOURCES = ("sparse", "base", "fused:s=new")

# What the measurement files of these do not tell, unlike those that tools/torchrec writes: how the GPUs exchange data.
INTERCONNECT = {
    "t2": "NVLink",
    "t6": "NVLink",
    "t7": "NVLink",
    "t9": "host memory",
    "c6": "NVLink",
    "n5": "host memory",
    "n6": "NVLink",
    "m2": "NVLink",
}
PREDICTED_SETS = ("t2", "t6", "t7", "t9", "c6", "n5", "n6")
MEASURED_ONLY_SETS = ("m2",)

# Steps of two lengths: which one a step takes is decided by a race that no mean can foretell.
BIMODAL_SETS = ("t7",)

# The same job measured twice, and one schedule run twice in a process.
SAME_JOB = (("t6", "c6"), ("t2", "m2"))
REPEATED = ("sparse", "sparse:rep")


JOB_HEADER = ("tables", "dim", "batch", "pooling", "over arch", "sharding", "exchange over")


def interconnect(name, arguments):
    """How the GPUs of set `name` exchange data, by the arguments of its job."""
    if name in INTERCONNECT:
        return INTERCONNECT[name]
    if arguments["world"] == 1:
        return "nothing: one GPU"
    environment = arguments.get("env", {})
    if environment.get("NCCL_P2P_DISABLE") == "1":
        return "host memory"
    channels = environment.get("NCCL_MAX_NCHANNELS")
    return f"NVLink, {channels} channels" if channels else "NVLink"


def job_cells(job):
    """What a table says of a job, under JOB_HEADER."""
    return (
        f"{job['tables']}+{job['weighted_tables']}",
        job["dimension"],
        job["batch"],
        job["pooling"],
        f"{job['over_arch_width']} x {job['over_arch_layers']}",
        job["sharding"].replace("_", "-"),
        job["interconnect"],
    )


def file_stem(schedule):
    """fused:s=new -> fused_snew, as the recordings are named."""
    return schedule.replace(":", "_").replace("=", "")
