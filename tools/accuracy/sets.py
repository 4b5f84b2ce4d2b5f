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

# Sets with recordings, and what their measurement files do not tell: how the GPUs exchange data.
INTERCONNECT = {
    "t2": "NVLink",
    "t6": "NVLink",
    "t7": "NVLink",
    "t9": "host memory",
    "c6": "NVLink",
    "n5": "host memory",
    "n6": "NVLink",
    "m2": "NVLink",
    # Recorded by tools/torchrec after the model was made, and judged in a section of their own.
    "x2": "NVLink",
    "x3": "host memory",
    "x4": "NVLink",
    "x6": "NVLink, 4 channels",
    "x7": "host memory",
    "y1": "NVLink",
    "y2": "NVLink",
    "y3": "host memory",
    "z1": "NVLink",
    "z4": "NVLink, 2 channels",
    "z5": "NVLink",
    "z6": "host memory",
    "w6": "nothing: one GPU",
    "w7": "nothing: one GPU",
    "w8": "nothing: one GPU",
    "a1": "NVLink",
    "a2": "host memory",
    "a3": "NVLink",
    "a4": "NVLink, 8 channels",
    "b1": "NVLink",
    "b2": "host memory",
    "b3": "NVLink",
    "b4": "NVLink",
    "b5": "NVLink, 4 channels",
    "x2_again": "NVLink",
    "x3_again": "host memory",
    "x7_again": "host memory",
    "y1_again": "NVLink",
    "y2_again": "NVLink",
    "y3_again": "host memory",
    "z1_again": "NVLink",
    "n5_2": "host memory",
    "n6_2": "NVLink",
    "x2_3": "NVLink",
    "x3_3": "host memory",
    "y1_3": "NVLink",
    "y2_3": "NVLink",
    "z6_2": "host memory",
    "b3_2": "NVLink",
    "b4_2": "NVLink",
    "c1": "NVLink",
    "c2": "host memory",
    "c3": "NVLink",
    "c4": "NVLink, 8 channels",
    "d1": "NVLink",
    "d2": "NVLink",
    "d3": "host memory",
    "d4": "NVLink, 4 channels",
    "d5": "NVLink",
    "d6": "NVLink",
    "d7": "NVLink, 8 channels",
    "d8": "NVLink",
    "x3_4": "host memory",
    "y2_4": "NVLink",
    "b3_3": "NVLink",
    "b4_3": "NVLink",
}
PREDICTED_SETS = ("t2", "t6", "t7", "t9", "c6", "n5", "n6")
MEASURED_ONLY_SETS = ("m2",)

# Steps of two lengths: which one a step takes is decided by a race that no mean can foretell.
BIMODAL_SETS = ("t7",)

# The same job measured twice, and one schedule run twice in a process.
SAME_JOB = (("t6", "c6"), ("t2", "m2"))
REPEATED = ("sparse", "sparse:rep")


JOB_HEADER = ("tables", "dim", "batch", "pooling", "over arch", "sharding", "exchange over")


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
