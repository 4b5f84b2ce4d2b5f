"""page_test.py RAW.json DOCS: the page and its picture are what their generators make of the raw results and the
sources, byte for byte."""

import difflib
import subprocess
import sys
from pathlib import Path

import tools_path

GENERATED = {"accuracy.md": "make_accuracy_md.py", "pictures/accuracy.svg": "picture.py"}


def as_generated(raw, kept, name):
    generator = tools_path.TOOLS / GENERATED[name]
    made = subprocess.run([sys.executable, "-B", str(generator), raw], capture_output=True, text=True)
    if made.returncode:
        sys.exit(made.stderr)
    text = (kept / name).read_text()
    difference = difflib.unified_diff(text.splitlines(), made.stdout.splitlines(), f"docs/{name}", "generated", lineterm="")
    print("\n".join(difference))
    return text == made.stdout


def main(raw, docs):
    wrong = [name for name in GENERATED if not as_generated(raw, Path(docs), name)]
    if wrong:
        makers = " and ".join(f"tools/accuracy/{GENERATED[name]}" for name in wrong)
        sys.exit(f"not as generated: {', '.join(wrong)}: run tools/accuracy/update.sh if the model has changed, else {makers}")
    print("docs/accuracy.md and its picture are as generated")


if __name__ == "__main__":
    main(*sys.argv[1:])
