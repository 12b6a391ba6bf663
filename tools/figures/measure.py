"""Runs the commands and reads their figures."""

import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .machine import EVERYWHERE, ROOT, kind, origin
from .measurement import Printed

# Tools that say themselves which program they run.
TAKES_CULLET = (
    "beam_bending.py",
    "beam_twisting.py",
    "compare_lammps.py",
    "compare_splashsurf.py",
    "compare_stress.py",
    "implicit_bending.py",
    "rotation_vectors.py",
    "stiffness_sweep.py",
)
EXAMPLES = ("bench", "bench_bem", "bench_device")
# Of `ru_maxrss` to MB: kilobytes, on a Mac bytes.
MAXRSS = 1e-6 if sys.platform == "darwin" else 1.024e-3


class Failed(Exception):
    """A command failed or could not do its work."""


def built(target):
    """Folder with `cullet` and `examples`, built for speed unless one is given."""
    if target:
        return target.resolve()
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "cullet", "--examples"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def words(line, target, folder):
    """The words of a command as the system takes them."""
    program, *rest = shlex.split(line.replace("OUT", str(folder)))
    if program == "cullet":
        quiet = [] if rest[0] == "inspect" else ["--quiet"]
        return [str(target / "cullet"), *rest, *quiet]
    if program in EXAMPLES:
        return [str(target / "examples" / program), *rest]
    own = ["--cullet", str(target / "cullet")] if Path(rest[0]).name in TAKES_CULLET else []
    return [sys.executable, *rest, *own]


def printed(command, folder):
    """Runs a command to its end."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with open(folder / "errors", "w+", encoding="utf-8") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
        text = process.stdout.read()
        # Tells the memory of this child and of its own children, which the sum over all children would not.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        told = errors.read()
    if process.returncode:
        raise Failed(f"{' '.join(command)}: ended with {process.returncode}\n{text[-1000:]}{told[-2000:]}")
    if text.startswith("skipped"):
        raise Failed(text.strip())
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return Printed(text, time.monotonic() - start, user, usage.ru_maxrss * MAXRSS)


def outcome(run, target, tiny):
    """What all commands of a run printed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        out.mkdir()
        return [printed(words(line, target, out), Path(folder)) for line in (run.tiny if tiny else run.commands)]


def measure(groups, chosen, told, target, tiny, save):
    """Measures the chosen groups, one command at a time, and puts what it finds into `told`; what failed."""
    target, here, failed = built(target), kind(), []
    runs = list(dict.fromkeys(run for group in chosen for run in group.runs()))
    runs = [run for run in runs if run.tiny or not tiny]
    for number, run in enumerate(runs, 1):
        line = (run.tiny if tiny else run.commands)[0]
        print(
            f"{number} of {len(runs)}, about {run.minutes:g} min: {line}" if not tiny else line,
            file=sys.stderr,
            flush=True,
        )
        try:
            found = outcome(run, target, tiny)
        except Failed as why:
            print(f"figures: {why}", file=sys.stderr, flush=True)
            failed.append(line)
            continue
        with_origin = origin()
        for group, figure in [(group, figure) for group in groups for figure in group.figures if figure.run is run]:
            name = f"{group.name}.{figure.name}"
            try:
                values = read(figure, found)
            except Failed as why:
                failed.append(f"{name}: {why}")
                continue
            told.setdefault(EVERYWHERE if group.everywhere else here, {})[name] = {"values": values} | with_origin
        save(told)
    return failed


def read(figure, found):
    """Values of a figure, with six digits."""
    try:
        values = figure.read(found)
    except (KeyError, IndexError, TypeError, ValueError) as why:
        raise Failed(f"not found in what was printed: {why!r}") from why
    if not values:
        raise Failed("not found in what was printed")
    return [float(f"{value:.6g}") for value in values]
