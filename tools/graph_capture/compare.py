#!/usr/bin/env python3
"""Predicts captured steps from recordings of the eager loop, and lays them beside what measure.py measured.

compare.py INTERLACE RESULTS [RECORDINGS]: RESULTS holds <model>.json and launches.json, and folders with more of the
former; RECORDINGS (else RESULTS) <model>.eager.json.gz or .ilt, in the same folders. Writes RESULTS/predictions.json, keeping what it says of models whose recording is not
there, and the tables of RESULTS/README.md, between its marks.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EDITS = {
    "eager": None,
    "fwd_bwd": ROOT / "samples/edits/captured_forward_backward.json",
    "step": ROOT / "samples/edits/captured_step.json",
}
NAMES = {"eager": "eager", "fwd_bwd": "forward, backward captured", "step": "optimizer captured, too"}


def predict(interlace, recording, edit):
    command = [interlace, "-q", "predict", str(recording), "--schedule", "torchrec/base", "--format", "json"]
    if edit:
        command += ["--edit", str(edit)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    of = answer["predictions"][0]
    return {key: round(of[name] / 1e6, 4) for key, name in
            (("step_ms", "step_time_ns"), ("p10_ms", "step_time_low_ns"), ("p90_ms", "step_time_high_ns"))}


def recording_of(model, folders):
    for folder in folders:
        for ending in (".eager.ilt", ".eager.json.gz"):
            if (folder / f"{model}{ending}").exists():
                return folder / f"{model}{ending}"
    return None


def steps_table(models, predictions):
    yield "| model | step | measured ms (least - most) | times | predicted ms | error |"
    yield "|---|---|---|---|---|---|"
    for model, result in models.items():
        for mode, name in NAMES.items():
            times = result["step_ms"][mode]
            predicted = predictions[model][mode]["step_ms"]
            error = 100 * (predicted / times["median"] - 1)
            told = "(taught)" if mode == "eager" else f"{error:+.1f} %"
            yield (f"| {result['layers']} layers of {result['width']}, batch {result['batch']} | {name} "
                   f"| {times['median']:.2f} ({min(times['all']):.2f} - {max(times['all']):.2f}) | {len(times['all'])} | {predicted:.2f} | {told} |")


def launches_table(rows):
    yield "| kernels | host us, graph | host us, eager | device us, graph | device us, eager |"
    yield "|---|---|---|---|---|"
    for row in rows:
        yield (f"| {row['nodes']} | {row['small_graph_host_us']:.1f} | {row['small_eager_host_us']:.1f} "
               f"| {row['small_graph_device_us']:.1f} | {row['small_eager_device_us']:.1f} |")


def put(text, mark, lines):
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    head, rest = text.split(begin)
    return head + begin + "\n\n" + "\n".join(lines) + "\n\n" + end + rest.split(end)[1]


def main():
    interlace, results = sys.argv[1], pathlib.Path(sys.argv[2])
    folders = [pathlib.Path(folder) for folder in sys.argv[2:]]
    files = sorted(results.rglob("l*_w*_b*.json"), key=lambda file: (len(file.parts), file))
    models = {str(file.relative_to(results).with_suffix("")): json.loads(file.read_text()) for file in files}
    models = dict(sorted(models.items(), key=lambda item: (item[1]["layers"] * item[1]["width"], item[0].count("/"))))
    kept = results / "predictions.json"
    predictions = json.loads(kept.read_text()) if kept.exists() else {}
    for model in models:
        recording = recording_of(model, folders)
        if recording:
            predictions[model] = {mode: predict(interlace, recording, edit) for mode, edit in EDITS.items()}
    kept.write_text(json.dumps(predictions, indent=1) + "\n")
    readme = results / "README.md"
    text = put(readme.read_text(), "steps", steps_table(models, predictions))
    readme.write_text(put(text, "launches", launches_table(json.loads((results / "launches.json").read_text()))))


if __name__ == "__main__":
    main()
