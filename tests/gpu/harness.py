"""What the tests on a GPU share: where things are, how programs are run and recorded, how results are kept."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LEDGER = re.compile(r"([\d,]+) launched = ([\d,]+) recorded \+ ([\d,]+) untimed \+ ([\d,]+) refused \+ "
                    r"([\d,]+) undelivered")


class Run:
    """Where things are, what was found so far, and how much time is left."""

    def __init__(self, args):
        self.tests = os.path.abspath(args.tests)
        self.out = os.path.abspath(args.out)
        self.work = tempfile.mkdtemp(prefix="collector_")
        self.samples = os.path.join(self.work, "samples")
        os.makedirs(self.samples)
        os.makedirs(self.out, exist_ok=True)
        self.deadline = time.monotonic() + args.budget
        self.soak_seconds = args.soak_seconds
        self.torch_seconds = args.torch_seconds
        self.launch_seconds = args.launch_seconds
        self.results = {"command": " ".join(sys.argv), "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
                        "parts": {}, "checks": []}
        self.report = open(os.path.join(self.out, "report.txt"), "w", encoding="utf-8")
        self.cupti = args.cupti or find_cupti()
        self.part = ""

    def bin(self, name):
        return os.path.join(self.tests, "bin", name)

    def left(self):
        return self.deadline - time.monotonic()

    def say(self, text):
        print(text, flush=True)
        self.report.write(text + "\n")
        self.report.flush()

    def check(self, what, passed, detail=""):
        self.results["checks"].append({"part": self.part, "what": what, "passed": bool(passed), "detail": str(detail)})
        self.say(f"  {'PASS' if passed else 'FAIL'} {what}{': ' + str(detail) if detail != '' else ''}")
        return passed

    def keep(self, **values):
        self.results["parts"].setdefault(self.part, {}).update(values)
        self.save()

    def save(self):
        with open(os.path.join(self.out, "results.json"), "w", encoding="utf-8") as file:
            json.dump(self.results, file, indent=1)


def find_cupti():
    """The folder of libcupti.so.13 on this machine: that of the interpreter's wheels, else that of the toolkit."""
    places = [os.path.join(path, "nvidia", "**", "libcupti.so.13") for path in sys.path if path]
    places += ["/usr/local/cuda*/**/libcupti.so.13"]
    for place in places:
        for found in sorted(glob.glob(place, recursive=True)):
            return os.path.dirname(found)
    return ""


def parent_of(process):
    with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as text:
        return int(text.read().rpartition(")")[2].split()[1])


def child_of(process):
    """The recorded program: the innermost process below the launcher, which makes its witness of signals before it."""
    while True:
        children = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if parent_of(name) == process:
                    children.append(int(name))
            except (OSError, IndexError):
                continue  # it has ended meanwhile
        if not children:
            return process
        process = max(children)


def tell_stacks(run, process):
    """Where the threads of a program stand that does not end."""
    program = child_of(process)
    found = subprocess.run(["cuda-gdb", "--batch", "-p", str(program), "-ex", "thread apply all bt 30"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False).stdout
    for task in sorted(os.listdir(f"/proc/{program}/task")):
        for name in ("comm", "wchan", "syscall", "stack"):
            try:
                with open(f"/proc/{program}/task/{task}/{name}", encoding="utf-8", errors="replace") as text:
                    found += f"\n{task} {name}: {text.read().strip()}"
            except OSError:
                continue
    with open(os.path.join(run.out, "hang.txt"), "a", encoding="utf-8") as out:
        out.write(f"process {program}\n{found}\n\n")
    run.say("  a program hung: see hang.txt")


def execute(run, command, limit=60, more_environment=None):
    """Runs a command; gives (status, output, errors). 124 where it ran past its limit."""
    environment = dict(os.environ, **(more_environment or {}))
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                   start_new_session=True, errors="replace")
    except OSError as error:
        return 127, "", str(error)
    try:
        # The budget decides whether a program is begun, never when it is cut off: that would look like a hang.
        out, err = process.communicate(timeout=limit)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        tell_stacks(run, process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return 124, out, err + f"\nended after {limit} s"


def record(run, name, command, options=(), limit=60, environment=None):
    """`interlace record` over the command; gives its status, output, summary and folder."""
    folder = os.path.join(run.work, name)
    shutil.rmtree(folder, ignore_errors=True)
    more = {"LD_LIBRARY_PATH": run.cupti} if run.cupti else {}
    more.update(environment or {})
    status, out, err = execute(run, [run.bin("interlace-record"), "--out", folder, *options, "--", *command], limit,
                               more)
    return {"status": status, "out": out, "err": err, "folder": folder}


def raw(run, kinds, command, limit=60, **settings):
    environment = {"CUDA_INJECTION64_PATH": os.path.join(run.tests, "lib", "libraw_cupti.so"),
                   "LD_LIBRARY_PATH": run.cupti, "RAW_CUPTI_KINDS": kinds}
    environment.update({"RAW_CUPTI_" + key.upper(): str(value) for key, value in settings.items()})
    return execute(run, command, limit, environment)


def ledgers(recording):
    return [[int(cell.replace(",", "")) for cell in row] for row in LEDGER.findall(recording["err"])]


def json_line(text):
    """The last line of the output that is JSON."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise ValueError("no line of JSON in: " + text[-500:])


def timed(result):
    """What a program of the benchmarks measured."""
    status, out, err = result
    if status != 0:
        raise ValueError(f"ended with {status}: {err[-500:]}")
    return json_line(out)


def info(run, folder):
    status, out, err = execute(run, [run.bin("interlace"), "info", "--format", "json", folder], 120,
                               {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib")})
    if status != 0:
        raise ValueError(f"interlace info ended with {status}: {err[-500:]}")
    return json.loads(out)


def convert(run, folder):
    """The operations of a recording, as the events of a Chrome trace."""
    file = folder + ".json"
    status, _, err = execute(run, [run.bin("interlace"), "convert", "-o", file, folder], 120,
                             {"LD_LIBRARY_PATH": os.path.join(run.tests, "lib")})
    if status != 0:
        raise ValueError(f"interlace convert ended with {status}: {err[-500:]}")
    return file


def keep_sample(run, recording, name):
    """Puts a small recording among the samples, for tests without a GPU."""
    for file in glob.glob(os.path.join(recording["folder"], "*.ilt")):
        if os.path.getsize(file) < 4_000_000:
            shutil.copy(file, os.path.join(run.samples, f"{name}_{os.path.basename(file)}"))


def check_whole(run, recording, what, launched=None):
    """That the program ended well and that all it launched is in the file."""
    rows = ledgers(recording)
    good = recording["status"] == 0 and len(rows) >= 1 and all(row[0] == row[1] for row in rows)
    good = good and "NOT OK" not in recording["err"]
    if launched is not None:
        good = good and sum(row[0] for row in rows) == launched
    detail = f"status {recording['status']}, ledger {rows}" + (f", {launched} launched" if launched else "")
    if not good:
        detail += "\n" + recording["err"][-1500:] + recording["out"][-300:]
    return run.check(f"{what}: ledger closed", good, detail)


def check_info(run, recording, what):
    """Losses and warnings that `interlace info` tells of, beside the table itself."""
    try:
        answer = info(run, recording["folder"])
    except (ValueError, json.JSONDecodeError) as error:
        run.check(f"{what}: interlace info", False, error)
        return None
    flaws = {one["code"]: one["count"] for one in answer["diagnostics"] if one["severity"] != "info"}
    run.check(f"{what}: interlace info", not any(one["severity"] == "data loss" for one in answer["diagnostics"]),
              f"{answer['operations']}, flaws {flaws}")
    return answer
