"""Who may include whom. The table is the architecture's: a folder sees what it names, and what that sees. CONTRIBUTING.md
shows it, too."""

import re

from source_tree import CODE_FOLDERS, INCLUDE, Finding

DIRECT = {
    "base": (),
    "trace": ("base",),
    "ingest": ("trace",),
    "graph": ("trace",),
    "stages": ("graph", "schedule"),
    "schedule": ("base",),
    "check": ("schedule", "graph"),
    "des": ("base",),
    "contention": ("trace",),
    "allocator": ("base",),
    "memory": ("stages", "allocator"),
    "trace_check": ("check", "memory"),
    "replay": ("memory", "check", "contention", "des"),
    "what_if": ("replay",),
    "analysis": ("graph",),
    "explain": ("analysis", "trace_check"),
    "report": ("analysis",),
    "campaign": ("report",),
    "cli": ("ingest", "what_if", "report", "trace_check", "explain", "campaign"),
}

# What the other top folders may include of ours beside themselves.
MAY_INCLUDE = {
    "gui": ("simulator/",),
    "cupti_collector": ("simulator/base/", "simulator/trace/"),
    "engine": ("simulator/base/", "simulator/schedule/", "cupti_collector/collector.hpp"),
    "simulator": (),
}

CUDA = r"(cuda|cupti|nccl|nvml|nvtx|thrust/|cub/)"
TORCH = r"(torch/|ATen/|c10/)"
QT = r"Q[A-Z]\w*(/|$)"
# Foreign headers that a top folder must build without.
FOREIGN = {
    "simulator": re.compile(rf"^({CUDA}|{TORCH}|{QT})"),
    "gui": re.compile(rf"^({CUDA}|{TORCH})"),
    "cupti_collector": re.compile(rf"^({TORCH}|{QT})"),
    "engine": re.compile(rf"^{QT}"),
}
# The one part of the collector that talks to LibTorch: libraries of its own.
TORCH_ALLOWED = "cupti_collector/torch_hooks"

LIBRARY = re.compile(r"\binterlace_(\w+)")

PAGE = "CONTRIBUTING.md"
ROW = re.compile(r"^\| (\w+) \| [^|]+ \| ([\w, ]*)\|$")


def visible_from(folder):
    """The folders of simulator/ that `folder` may include: itself and all below it in the table."""
    seen = {folder}
    for below in DIRECT[folder]:
        seen |= visible_from(below)
    return seen


def check(tree):
    for path in tree.matching(".hpp", ".cpp", ".cu", ".cuh", under=CODE_FOLDERS):
        code = tree.code(path)
        for match in INCLUDE.finditer(code):
            line = code.count("\n", 0, match.start(2)) + 1
            for problem in _problems(tree, path, match.group(1), match.group(2)):
                yield Finding(path, line, problem)
    for path in tree.matching("CMakeLists.txt", under=("simulator",)):
        yield from _linked(tree, path)
    for folder in sorted({p.split("/")[1] for p in tree.matching(".hpp", ".cpp", under=("simulator",))} - set(DIRECT)):
        yield Finding(f"simulator/{folder}", 0, "a folder that the table of layers does not know")
    if PAGE in tree.paths:
        yield from _shown(tree)


def _shown(tree):
    """The page's table is this one."""
    missing = dict(DIRECT)
    for number, text in tree.lines(PAGE):
        row = ROW.match(text)
        if not row or row[1] == "folder":
            continue
        direct = missing.pop(row[1], None)
        if direct is None:
            yield Finding(PAGE, number, f"the table of layers has no {row[1]}, or shows it twice")
        elif sorted(filter(None, row[2].strip().split(", "))) != sorted(direct):
            yield Finding(PAGE, number, f"{row[1]} may include {', '.join(direct)}")
    if missing:
        yield Finding(PAGE, 0, f"the table of layers lacks {', '.join(missing)}")


def _problems(tree, path, bracket, included):
    top = path.split("/")[0]
    ours = included.split("/")[0] in CODE_FOLDERS or included.startswith("tests/")
    if bracket == '"' and included not in tree.paths:
        yield f'"{included}" is not a path from the root of the repository'
    if bracket == "<" and ours:
        yield f'our own <{included}> is included in quotes: "{included}"'
    if not ours:
        torch_hook = path.startswith(TORCH_ALLOWED) and re.match(TORCH, included)
        if FOREIGN[top].match(included) and not torch_hook:
            yield f"{top}/ must build without <{included}>"
        return
    if included.startswith("tests/"):
        yield f"code must not include tests: {included}"
    elif included.split("/")[0] != top:
        if not included.startswith(MAY_INCLUDE[top]):
            yield f"{top}/ may include only {' '.join(MAY_INCLUDE[top]) or 'itself'}, not {included}"
    elif top == "simulator":
        folder, wanted = path.split("/")[1], included.split("/")[1]
        if folder in DIRECT and wanted not in visible_from(folder):
            allowed = ", ".join(sorted(visible_from(folder) - {folder})) or "nothing of ours"
            yield f"{folder}/ may include {allowed}; not {included}"


def _linked(tree, path):
    """A link crosses layers as an include does."""
    parts = path.split("/")
    if len(parts) < 3 or parts[1] not in DIRECT:
        return
    for number, text in tree.lines(path):
        for wanted in LIBRARY.findall(text.split("#")[0]):
            if wanted in DIRECT and wanted not in visible_from(parts[1]):
                yield Finding(path, number, f"{parts[1]}/ must not link interlace_{wanted}")
