#!/usr/bin/env python3
"""Runs shots on several ranks by MPI, and compares every byte with a run in one process.

    python tools/ranks.py [--program FILE] [SHOTS] [--ranks 1 2 3 4 7] [--threads 1 2]
    python tools/ranks.py [--program FILE] --time 500000
    python tools/ranks.py [--program FILE] --memory 500000 [--ranks 1 2 4]

Each shot is packed once at smoke size and simulated in one process, then on each number of ranks and threads. Unless it is
too short, one rank of a run is then killed: the launcher must fail, with at most one message of cullet, and the run is
resumed on another number of ranks. All tables and states must be the same, except for wall times. Exits with 0 if they
are, else with 1. `mpirun` is Debian's `mpich` or `openmpi-bin`, or pip's `mpich`; pyarrow reads the history. Without
--program the tool builds one, with `cargo build --release --features mpi`.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet
from kill_and_resume import ROOT, contents, difference

# Seconds that a run in one process must take for a rank to be killed in the middle of it.
LEAST_TO_KILL = 0.5
SHOTS = ["bunny_drop", "hourglass", "rope_twist", "letters", "vase_rolls"]


def words(options, store, ranks, threads, extra=()):
    program = [str(options.program), "simulate", str(store), "--backend", "cpu", "--threads", str(threads), "--quiet", *extra]
    return program if ranks == 0 else [options.mpirun, "-n", str(ranks), *program]


def copy(packed, folder, name):
    store = folder / name
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(packed, store)
    return store


def simulate(options, store, ranks, threads, extra=()):
    start = time.monotonic()
    subprocess.run(words(options, store, ranks, threads, extra), check=True)
    return time.monotonic() - start


def children(pid):
    """All processes below one, by the tables in /proc."""
    below = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        more = below.get(left.pop(), [])
        found += more
        left += more
    return found


def ranks_of(pid, program):
    """The processes of the program below a launcher."""
    name = program.name
    return [one for one in children(pid) if pathlib.Path(f"/proc/{one}/comm").read_text().strip() == name]


def kill_one(options, store, ranks, seconds):
    """Kills a rank after a time; returns the exit code and the messages, or nothing if the run had ended."""
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    launcher = subprocess.Popen(words(options, store, ranks, 1), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    time.sleep(seconds)
    try:
        found = ranks_of(launcher.pid, options.program)
        os.kill(random.choice(found), signal.SIGKILL)
    except (IndexError, OSError):
        launcher.communicate()
        return None
    output, errors = launcher.communicate(timeout=60)
    return launcher.returncode, output + errors


def compare(options, shot, folder):
    """Faults of a shot."""
    packed = folder / "packed"
    shutil.rmtree(packed, ignore_errors=True)
    settings = [word for setting in ["scale=smoke", "simulate.state_every=1", *options.set] for word in ("--set", setting)]
    subprocess.run([str(options.program), "pack", str(ROOT / "pipelines" / f"{shot}.toml"), "--out", str(packed), "--quiet", *settings], check=True)
    whole = copy(packed, folder, "whole")
    alone = simulate(options, whole, 0, 1)
    expected = contents(whole)
    print(f"{shot}: {len(expected)} files, {alone:.1f} s in one process", flush=True)
    faults = []
    for ranks in options.ranks:
        for threads in options.threads:
            store = copy(packed, folder, "ranks")
            seconds = simulate(options, store, ranks, threads)
            differs = difference(expected, contents(store))
            print(f"  {ranks} ranks, {threads} threads: {differs or 'the same bytes'}, {seconds:.1f} s", flush=True)
            faults += [f"{shot}, {ranks} ranks, {threads} threads: {differs}"] if differs else []
    if alone < LEAST_TO_KILL:
        print("  too short to kill a rank", flush=True)
        return faults
    store = copy(packed, folder, "killed")
    killed = kill_one(options, store, 3, 0.5 * alone)
    if killed is None:
        return [*faults, f"{shot}: the run ended before a rank was killed"]
    code, messages = killed
    own = [line for line in messages.splitlines() if line.startswith("cullet:")]
    simulate(options, store, 2, 1, ["--resume"])
    differs = difference(expected, contents(store))
    print(f"  killed: exit code {code}, {len(own)} messages of ours; resumed on 2: {differs or 'the same bytes'}", flush=True)
    if differs or code == 0 or len(own) > 1:
        faults.append(f"{shot}, killed with exit code {code}, {len(own)} messages of ours: {differs}")
    return faults


def seconds(store):
    """Shortest wall time of a frame, s; the first two, which include start-up, are left out."""
    tables = [pyarrow.parquet.read_table(path, columns=["seconds"]) for path in sorted((store / "history").glob("*.parquet"))]
    return min(table["seconds"][0].as_py() for table in tables[2:])


def pack_bunny(options, folder, elements):
    """A bunny of many elements before it breaks, packed; and the largest memory that packing took, MB."""
    packed = folder / "packed"
    settings = [f"body.bunny.packing.elements={elements}", "time.frames_per_second=20000", "time.end='150 us'", "simulate.sleep=false", *options.set]
    settings = [word for setting in settings for word in ("--set", setting)]
    shot = str(ROOT / "pipelines" / "bunny_drop.toml")
    process = subprocess.Popen([str(options.program), "pack", shot, "--out", str(packed), "--quiet", *settings])
    # Tells the memory of this child alone.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    return packed, usage.ru_maxrss / 1e3


def time_block(options, folder):
    """Times a bunny of many elements before it breaks, in one process and on two ranks of one thread, in turns."""
    packed, _ = pack_bunny(options, folder, options.time)
    found = {(0, 2): [], (2, 1): []}
    for _ in range(3):
        for on, times in found.items():
            store = copy(packed, folder, "timed")
            program = words(options, store, *on)
            program.remove("--quiet")
            done = subprocess.run(program, check=True, stderr=subprocess.PIPE, text=True)
            times.append(seconds(store))
    alone, shared = (min(times) for times in found.values())
    # The last run was on ranks.
    said = re.search(r"rank 0 sent (\d+) rows, (\d+) bytes an exchange; load was rebalanced (\d+) times", done.stderr)
    rows, size, rebalances = map(int, said.groups())
    measured = {"elements": options.time, "alone": alone, "ranks": shared, "ratio": alone / shared, "rows": rows, "bytes": size}
    measured["rebalances"] = rebalances
    if options.json:
        return print(json.dumps(measured))
    print(f"{options.time} elements, a frame: {alone:.3f} s in one process on 2 threads, {shared:.3f} s on 2 ranks of one: {alone / shared:.3f} times")
    print(f"rank 0 sent {rows} rows of {size / rows:.0f} bytes an exchange; load was rebalanced {rebalances} times")


def memory_of(pid):
    """Rank of a process, and its memory: largest and present, MB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    environment = pathlib.Path(f"/proc/{pid}/environ").read_text()
    rank = int(re.search(r"(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)", environment)[1])
    return rank, *(int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1e3 for key in ("VmHWM", "VmRSS"))


def memory(options, folder):
    """Memory of packing, MB: the peak; and of each rank: the peak, and the median after the first frame. A run in one
    process maps large allocations separately, too, as runs on ranks do: otherwise more than the number of ranks would
    differ."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 18)}
    packed, peak = pack_bunny(options, folder, options.memory)
    print(f"{options.memory} elements, packing, MB: peak {peak:.0f}", flush=True)
    for ranks in options.ranks:
        store = copy(packed, folder, "measured")
        launcher = subprocess.Popen(words(options, store, ranks, 1), env=environment)
        peaks, later = {}, {}
        while launcher.poll() is None:
            begun = any((store / "frames").glob("*.parquet"))
            try:
                for pid in ranks_of(launcher.pid, options.program):
                    rank, peak, resident = memory_of(pid)
                    peaks[rank] = max(peak, peaks.get(rank, 0))
                    if begun:
                        later.setdefault(rank, []).append(resident)
            except (OSError, TypeError):
                pass  # A rank has ended, or has just begun.
            time.sleep(0.05)
        if launcher.returncode:
            sys.exit(launcher.returncode)
        if later.keys() != peaks.keys():
            sys.exit("the run is too short to be measured: use more elements")
        figures = [f"rank {rank} {statistics.median(later[rank]):.0f} (peak {peak:.0f})" for rank, peak in sorted(peaks.items())]
        print(f"{options.memory} elements, {ranks} ranks, MB: " + ", ".join(figures), flush=True)


def build():
    """Builds a program with MPI."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--features", "mpi", "--bin", "cullet"], check=True, cwd=ROOT)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "cullet"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, help="cullet, built with the feature mpi (default: builds it)")
    parser.add_argument("--json", action="store_true", help="prints times as JSON")
    parser.add_argument("shots", nargs="*", help=f"default: {' '.join(SHOTS)}")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher (default mpirun)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4, 7])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--time", type=int, metavar="ELEMENTS", help="times a bunny of ELEMENTS elements, compares nothing")
    parser.add_argument("--memory", type=int, metavar="ELEMENTS", help="measures the memory of packing and of ranks on a bunny of ELEMENTS elements")
    options = parser.parse_args()
    options.program = (options.program or build()).resolve()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        if options.time:
            return time_block(options, pathlib.Path(folder))
        if options.memory:
            return memory(options, pathlib.Path(folder))
        faults = [fault for shot in options.shots or SHOTS for fault in compare(options, shot, pathlib.Path(folder))]
    for fault in faults:
        print(f"FAULT: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
