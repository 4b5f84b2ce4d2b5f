"""What the build names: every source and header in the CMakeLists.txt above it, every package in packages.txt."""

import re
from pathlib import PurePosixPath

from source_tree import CODE_FOLDERS, Finding

PACKAGES = ".ci/packages.txt"
DEPENDENCIES = "cmake/InterlaceDependencies.cmake"
GROUPS = {"build", "test", "check"}


def check(tree):
    for path in tree.matching(".cpp", ".hpp", ".cu", ".cuh", under=CODE_FOLDERS):
        yield from _listed(tree, path)
    for path in tree.matching(".cpp", under=("tests",)):
        yield from _listed(tree, path)
    yield from _packages(tree)


def _listed(tree, path):
    """A file that no list names is never compiled, and a header that none names is never compiled alone."""
    folder = PurePosixPath(path).parent
    while f"{folder}/CMakeLists.txt" not in tree.paths and str(folder) != ".":
        folder = folder.parent
    lists = f"{folder}/CMakeLists.txt"
    if lists not in tree.paths:
        yield Finding(path, 0, "no CMakeLists.txt in any folder above it")
        return
    name = PurePosixPath(path).relative_to(folder).as_posix()
    if not re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", tree.text(lists)):
        yield Finding(path, 0, f"{lists} does not name it")


def _packages(tree):
    if PACKAGES not in tree.paths:
        yield Finding(PACKAGES, 0, "is missing")
        return
    known = set()
    for number, text in tree.lines(PACKAGES):
        if text.startswith("#") or not text.strip():
            continue
        package, group, *purpose = text.split()
        if group not in GROUPS or not purpose:
            yield Finding(PACKAGES, number, f"a line has a package, a group of {sorted(GROUPS)} and what it is for")
        known.add(package)
    if DEPENDENCIES not in tree.paths:
        return
    for number, text in tree.lines(DEPENDENCIES):
        for package in re.findall(r"^\s*interlace_require\(.*\bPACKAGE ([\w.+-]+)", text):
            if package not in known:
                yield Finding(DEPENDENCIES, number, f"{package} is missing in {PACKAGES}")
