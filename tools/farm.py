#!/usr/bin/env python3
"""Runs a shot by farm managers on this machine, kills its tasks, and compares every byte with a run without a farm.

    tools/farm.py CULLET [openjd] [snakemake] [slurm] [--kills N] [--folder DIR]

Needs the packages of tools/farm/requirements.txt, and for Slurm Debian's slurm-wlm; what is absent is skipped, aloud. A
Slurm of one machine is started, which needs root. Each task is killed N times (default 2) soon after
it began, by SIGKILL, unless it is faster, and then runs again: Snakemake and Slurm do that themselves, `openjd run` is
called again. Files of the store are then compared, without those that contain wall times. For Slurm a simulation is also
told that its time ends, and a job is cancelled. The jobs of OpenCue and Flamenco, which need servers, are tested in
tests/external.
"""

import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "farm"))

import slurm

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOT = ROOT / "pipelines/bunny_drop.toml"
SETTINGS = ["scale=smoke", "simulate.backend=cpu", "simulate.state_every=1", "export.formats=['usd']"]
STAGES = "simulate,reconstruct,export"
BESIDE = pathlib.Path(sys.executable).parent
"""Where programs of this environment are."""

# Kills the program after a while, as often as asked for each command line.
WRAPPER = """#!/bin/sh
key=$(printf %s "$*" | cksum | cut -d' ' -f1)
try=$(cat {tries}/$key 2>/dev/null || echo 0)
echo $((try + 1)) >{tries}/$key
if [ "$try" -ge {kills} ]; then exec {cullet} "$@"; fi
{cullet} "$@" &
task=$!
sleep 0.$(printf %02d $((5 + 15 * try)))
kill -9 $task && echo "$* at try $((try + 1))" >>{tries}/killed
wait $task
"""


def run(words, folder, check=True):
    done = subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, words))} failed:\n{done.stdout}")
    return done


def pack(cullet, store):
    words = [cullet, "pack", SHOT, "--out", store, "--quiet"]
    for setting in SETTINGS:
        words += ["--set", setting]
    run(words, ROOT)


def contents(store):
    """Bytes of every file by name, without those that contain wall times."""
    names = {path: path.relative_to(store).as_posix() for path in sorted(store.rglob("*")) if path.is_file()}
    with_times = ("history/", ".lock", "store.json")
    return {name: path.read_bytes() for path, name in names.items() if not name.startswith(with_times)}


def openjd(job, folder):
    """`openjd run` runs the steps of a job in order and ends at the first failure."""
    for _ in range(40):
        done = run([BESIDE / "openjd", "run", job], folder, check=False)
        if done.returncode == 0:
            break
    return done


def snakemake(job, folder):
    return run([BESIDE / "snakemake", "--cores", "2", "--snakefile", job], folder, check=False)


def by_slurm(job, folder):
    with slurm.cluster(folder) as environment:
        done = slurm.submit_and_wait(job, folder, environment)
        if done.returncode == 0:
            slurm.check_signals(folder, environment)
        return done


MANAGERS = {
    "openjd": (openjd, lambda: (BESIDE / "openjd").exists()),
    "snakemake": (snakemake, lambda: (BESIDE / "snakemake").exists()),
    "slurm": (by_slurm, lambda: shutil.which("sbatch") is not None),
}


def try_manager(name, options, base, whole):
    """Runs the shot by one farm manager. Returns whether the store is the same."""
    play, is_there = MANAGERS[name]
    if not is_there():
        print(f"skipped: {name} is not installed")
        return True
    folder = base / name
    # Snakemake would take braces for wildcards.
    parent = "it's a shot" if name == "snakemake" else "it's {a} shot"
    store, tries = folder / parent / "store", folder / "tries"
    tries.mkdir(parents=True)
    pack(options.cullet, store)
    wrapper = folder / "cullet"
    words = {"tries": shlex.quote(str(tries)), "kills": options.kills, "cullet": shlex.quote(options.cullet)}
    wrapper.write_text(WRAPPER.format(**words))
    wrapper.chmod(0o755)
    job = folder / "job"
    begun = time.monotonic()
    run([options.cullet, "jobs", store, "--for", name, "--stage", STAGES, "--chunk", "2", "--program", wrapper, "--out", job, "--cores", "1"], ROOT)
    done = play(job, folder)
    if done.returncode != 0:
        print(f"{name} failed:\n{done.stdout}")
        return False
    found = contents(store)
    different = sorted(key for key in whole.keys() | found.keys() if whole.get(key) != found.get(key))
    killed = tries / "killed"
    kills = killed.read_text().splitlines() if killed.exists() else []
    verdict = f"different: {', '.join(different[:5])}" if different else "the same bytes"
    print(f"{name:<10} {len(found)} files, {len(kills)} tasks killed, {time.monotonic() - begun:.0f} s: {verdict}", flush=True)
    for stage in ("simulate", "reconstruct"):
        if options.kills and not any(f" {stage} " in kill for kill in kills):
            print(f"{name}: no task of {stage} was killed")
            return False
    return not different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cullet")
    parser.add_argument("managers", nargs="*", choices=[[], *MANAGERS], metavar="MANAGER", help="default: all")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, help="where the stores go; default: a temporary folder")
    options = parser.parse_args()
    options.cullet = str(pathlib.Path(options.cullet).resolve())
    base = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    # Files are named after the store's folder, so that is always the same.
    store = base / "whole" / "store"
    pack(options.cullet, store)
    for words in (["simulate"], ["reconstruct"], ["export", "--format", "usd"]):
        run([options.cullet, words[0], store, *words[1:]], ROOT)
    whole = contents(store)
    fine = [try_manager(name, options, base, whole) for name in options.managers or MANAGERS]
    if not all(fine):
        sys.exit(f"the stores are in {base}")
    shutil.rmtree(base)


if __name__ == "__main__":
    main()
