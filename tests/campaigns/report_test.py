"""A campaign's report stands as its files give it: report.json to the last digit, report.txt to the letter.

usage: report_test.py INTERLACE CAMPAIGN_FOLDER
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    interlace, folder = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy)
        (copy / "report.json").unlink()
        run = subprocess.run([interlace, "validate", "--report", str(copy)], capture_output=True, text=True, check=False)
        assert run.returncode in (0, 3), run.stderr
        made = json.loads((copy / "report.json").read_text())
        assert made == json.loads((folder / "report.json").read_text()), "report.json is not what the files give"
        assert run.stdout == (folder / "report.txt").read_text(), "report.txt is not what the files give"

        prediction = copy / "prediction.json"
        prediction.write_text(prediction.read_text().replace("1", "2", 1))
        run = subprocess.run([interlace, "validate", "--report", str(copy)], capture_output=True, text=True, check=False)
        assert "campaign.prediction_changed" in run.stderr, "a changed prediction was not refused"


if __name__ == "__main__":
    main()
