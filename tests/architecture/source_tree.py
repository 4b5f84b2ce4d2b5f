"""The files of the repository as the architecture rules see them."""

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

NOT_SOURCE = {"build", "out", "__pycache__"}
CODE_FOLDERS = ("simulator", "engine", "cupti_collector", "gui")
# The bracket or quote, and what is included.
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    """A place that breaks a rule. Line 0: the file as a whole."""

    path: str
    line: int
    problem: str

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.problem}"


class SourceTree:
    """All paths are relative to the root and use forward slashes."""

    def __init__(self, root):
        self.root = Path(root)
        self.paths = sorted(self._walk())

    def _walk(self):
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = [s for s in subfolders if s not in NOT_SOURCE and (s == ".ci" or not s.startswith("."))]
            for name in names:
                path = Path(folder, name).relative_to(self.root)
                if path.as_posix() != ".git":  # a linked worktree has a file of that name
                    yield path.as_posix()

    def matching(self, *suffixes, under=()):
        """Paths that end in one of the suffixes and lie in one of the top folders `under` (all where empty)."""
        return [p for p in self.paths if p.endswith(suffixes) and (not under or p.split("/")[0] in under)]

    @lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def lines(self, path):
        """(number from 1, text) of each line."""
        return enumerate(self.text(path).splitlines(), start=1)

    def is_text(self, path):
        with open(self.root / path, "rb") as file:
            return b"\0" not in file.read(4096)

    @lru_cache(maxsize=None)
    def code(self, path):
        """The text of a C++ file with comments blanked out; offsets and lines stay."""
        literal_or_comment = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'

        def blank(match):
            found = match.group()
            return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

        return re.sub(literal_or_comment, blank, self.text(path), flags=re.DOTALL)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
