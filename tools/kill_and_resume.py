#!/usr/bin/env python3
"""Kills a run at random times and resumes it, and compares every byte with an undisturbed run.

    tools/kill_and_resume.py PROGRAM [KILLS] [--seed N] [--shot FILE] [--folder DIR]

Runs the shot's smoke size on the CPU through all stages, first undisturbed, then again and again with SIGKILL at random times
within the length of a whole run, each time followed by `run --resume`; a resumed run may be killed again. All files must then be the same,
except for wall times: store.json and the column `seconds` of the history (which is compared without it where pyarrow is installed).
Exits with 0 if KILLS (default 10) kills have left no trace, else with 1.
"""

import argparse
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTINGS = ["scale=smoke", "simulate.backend=cpu", "simulate.state_every=1", "preview.width=160", "preview.height=120",
            "export.formats=['usd', 'glb', 'obj']"]


def command(options, out, resume):
    words = [options.program, "run", str(options.shot), "--out", str(out), "--quiet"]
    for setting in SETTINGS + options.set:
        words += ["--set", setting]
    return words + (["--resume"] if resume else [])


def contents(store):
    """Bytes of every file by name, without those that contain wall times."""
    found = {}
    for path in sorted(store.rglob("*")):
        name = path.relative_to(store).as_posix()
        if path.is_dir() or name == "store.json" or name.startswith(".lock"):
            continue
        if name.startswith("history/"):
            found[name] = history(path)
        else:
            found[name] = path.read_bytes()
    return found


def history(path):
    try:
        import pyarrow.parquet
    except ImportError:
        return b""
    return str(pyarrow.parquet.read_table(path).drop_columns(["seconds"]).to_pydict()).encode()


def difference(whole, found):
    names = sorted(name for name in whole.keys() | found.keys() if whole.get(name) != found.get(name))
    differences = [name + (" is missing" if name not in found else " is new" if name not in whole else " differs") for name in names]
    return ", ".join(differences[:5])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kills", nargs="?", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shot", type=pathlib.Path, default=ROOT / "pipelines/bunny_drop.toml")
    parser.add_argument("--set", action="append", default=[], help="further settings of the shot")
    parser.add_argument("--folder", help="where the stores go; default: a temporary folder")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    draw = random.Random(options.seed)
    base = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    clock = time.monotonic()
    # Files are named after the store's folder, so that is always the same.
    subprocess.run(command(options, base / "whole/store", False), check=True)
    length = time.monotonic() - clock
    whole = contents(base / "whole/store")
    kills = runs = failures = 0
    while kills < options.kills and failures < 5:
        store = base / f"run{runs}" / "store"
        resume = False
        times = []
        while True:
            wait = draw.uniform(0, length)
            process = subprocess.Popen(command(options, store, resume), stderr=subprocess.PIPE)
            resume = True
            try:
                _, output = process.communicate(timeout=wait if kills < options.kills else None)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += 1
                times.append(f"{wait:.3f}")
                continue
            break
        runs += 1
        found = contents(store) if store.exists() else {}
        wrong = difference(whole, found)
        if process.returncode != 0 or wrong:
            failures += 1
            print(f"killed after {', '.join(times)} s: exit {process.returncode}; {wrong}; {output.decode().strip()}")
        else:
            shutil.rmtree(store.parent)
    print(f"{kills} kills in {runs} runs of {len(whole)} files ({length:.1f} s undisturbed): {failures} runs differ")
    if failures == 0:
        shutil.rmtree(base)
    else:
        print(f"kept in {base}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
