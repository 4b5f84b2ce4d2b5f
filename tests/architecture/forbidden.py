"""What stands nowhere in the tree."""

import re

from source_tree import CODE_FOLDERS, INCLUDE, Finding

MOST_LINES = 600
CODE_SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", "CMakeLists.txt")

USING_NAMESPACE = re.compile(r"\busing\s+namespace\b")
# `using a::Name;` and `namespace a = b::c;` of a whole file.
FILE_WIDE_NAME = re.compile(r"^(?:using (?:\w+::)+(\w+);|namespace (\w+) = [\w:]+;)", re.MULTILINE)
# A path of somebody's machine, at the start of a word.
MACHINE_PATH = re.compile(r"(?<![\w.$})/-])/(home|root|work|Users|mnt)/\w")
REGISTRY_HOST = re.compile(
    r"\b(pypi\.org|pythonhosted\.org|(deb|security|ftp|snapshot)\.debian\.org|(archive|security|ports)\.ubuntu\.com"
    r"|npmjs\.(org|com)|crates\.io|anaconda\.(org|com)|(docker|ghcr|nvcr|quay)\.io|rubygems\.org|maven\.org"
    r"|proxy\.golang\.org|download\.pytorch\.org|packages\.cloud\.google\.com)\b"
)
# These name what they forbid.
EXEMPT = ("tests/architecture/forbidden.py", "tests/architecture/rules_test.py")


def _included_late(tree, header):
    """A header that its own source includes first is seen to include what it uses: cmake/InterlaceHeaderCheck.cmake."""
    source = re.sub(r"\.hpp$", ".cpp", header)
    if source == header or source not in tree.paths:
        return
    first = INCLUDE.search(tree.code(source))
    if first is None or first.group(2) != header:
        yield Finding(source, 0, f"does not include {header} before all else")


def _of_sources(tree, path):
    """What clang-tidy sees in a file by itself only: .ci/tidy.sh gives it whole libraries."""
    code = tree.code(path)
    for match in FILE_WIDE_NAME.finditer(code):
        name = match.group(1) or match.group(2)
        if len(re.findall(rf"\b{name}\b", code[: match.start()] + code[match.end() :])) == 0:
            yield Finding(path, code.count("\n", 0, match.start()) + 1, f"does not use the name {name} that it brings in")
    for match in INCLUDE.finditer(code):
        if match.group(2).endswith((".cpp", ".cu")):
            yield Finding(path, code.count("\n", 0, match.start(2)) + 1, f"includes a source, {match.group(2)}")


def check(tree):
    for path in tree.matching(".hpp", ".cuh", under=(*CODE_FOLDERS, "tests")):
        code = tree.code(path)
        if not re.search(r"^\s*#pragma once\b", code, re.MULTILINE):
            yield Finding(path, 0, "has no #pragma once")
        for match in USING_NAMESPACE.finditer(code):
            yield Finding(path, code.count("\n", 0, match.start()) + 1, "using namespace in a header")
        yield from _included_late(tree, path)
    for path in tree.matching(".cpp", ".cu", under=(*CODE_FOLDERS, "tests")):
        yield from _of_sources(tree, path)
    for path in tree.matching(*CODE_SUFFIXES):
        length = tree.text(path).count("\n")
        if length > MOST_LINES:
            yield Finding(path, 0, f"{length} lines; a file is about one thing and never over {MOST_LINES}")
    for path in tree.paths:
        if path in EXEMPT or not tree.is_text(path):
            continue
        for number, text in tree.lines(path):
            if MACHINE_PATH.search(text):
                yield Finding(path, number, f"names a path of one machine: {MACHINE_PATH.search(text).group()}...")
            if REGISTRY_HOST.search(text):
                yield Finding(path, number, f"names a package registry: {REGISTRY_HOST.search(text).group()}")
