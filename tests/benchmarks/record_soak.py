"""Records an hour's worth of launches over the fake CUDA and watches the memory of the recorded process.

    python3 tests/benchmarks/record_soak.py --build build/gpu-node --launches 360 --rate 750000 --out FILE.json

--launches: millions; 360 are an hour at 100,000 a second. --rate: launches a second; 0: as fast as the fake CUDA can,
so that the writer is always behind by what its buffers hold, and what they cannot hold shows in the account.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ACCOUNT = re.compile(r"([\d,]+) launched = ([\d,]+) recorded \+ ([\d,]+) untimed \+ ([\d,]+) refused \+ "
                     r"([\d,]+) undelivered")


def resident_mib(process):
    """Of the recorded program, the launcher's child."""
    children = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    try:
        with open(f"/proc/{children[0]}/status", encoding="ascii") as text:
            return int(re.search(r"VmRSS:\s+(\d+)", text.read()).group(1)) // 1024
    except (OSError, IndexError, AttributeError):
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/gpu-node")
    parser.add_argument("--launches", type=int, default=360)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--folder", help="where the recording goes meanwhile; by default one of the system")
    parser.add_argument("--out")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="record_soak_", dir=args.folder)
    scenario = ["steady", str(args.launches), str(args.rate)] if args.rate else ["flood", str(args.launches)]
    fake = os.path.abspath(os.path.join(args.build, "fake_cuda"))
    began = time.monotonic()
    process = subprocess.Popen([os.path.join(args.build, "bin", "interlace-record"), "--out", folder, "--overwrite", "--",
                                os.path.join(fake, "fake_program"), *scenario],
                               env=dict(os.environ, LD_LIBRARY_PATH=fake), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    resident = []
    while process.poll() is None:
        time.sleep(2)
        found = resident_mib(process.pid)
        if found:
            resident.append(found)
    out, err = process.communicate()
    row = [int(cell.replace(",", "")) for cell in ACCOUNT.search(err).groups()]
    size = os.path.getsize(os.path.join(folder, "rank0.ilt"))
    shutil.rmtree(folder)
    steady = resident[len(resident) // 4:]
    answer = {"date": time.strftime("%Y-%m-%d"), "launched": row[0], "recorded": row[1], "untimed": row[2],
              "refused": row[3], "undelivered": row[4], "is_closed": row[0] == sum(row[1:]),
              "bytes_a_launch": size / row[0], "seconds": round(time.monotonic() - began, 1),
              "resident_mib_steady": [min(steady), max(steady)], "resident_mib": resident, "status": process.returncode,
              "rate": args.rate, "said": out.splitlines()}
    print(json.dumps({name: value for name, value in answer.items() if name != "resident_mib"}, indent=1))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as out:
            json.dump(answer, out)


main()
