"""page_test.py RAW.json PAGE: the page is what the generator makes of the raw results and the sources, byte for byte."""

import difflib
import subprocess
import sys
from pathlib import Path

import tools_path


def main(raw, page):
    generator = tools_path.TOOLS / "make_accuracy_md.py"
    made = subprocess.run([sys.executable, "-B", str(generator), raw], capture_output=True, text=True)
    if made.returncode:
        sys.exit(made.stderr)
    kept = Path(page).read_text()
    difference = list(
        difflib.unified_diff(kept.splitlines(), made.stdout.splitlines(), "docs/accuracy.md", "generated", lineterm="")
    )
    print("\n".join(difference))
    if kept != made.stdout:
        sys.exit("docs/accuracy.md is not as generated: run tools/accuracy/update.sh if the model has changed, else "
                 "tools/accuracy/make_accuracy_md.py")
    print("docs/accuracy.md is as generated")


if __name__ == "__main__":
    main(*sys.argv[1:])
