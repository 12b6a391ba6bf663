#!/usr/bin/env python3
"""Simulates the same packing with two builds of cullet and compares every byte: do lanes of other processors give the same bits?

    tools/compare_processors.py --cullet PROGRAM --other COMMAND [--shot FILE] [--set KEY=VALUE] ...

COMMAND runs a build for another processor. For the 64-bit processors of Arm, on Debian:

    apt-get install g++-aarch64-linux-gnu qemu-user
    rustup target add aarch64-unknown-linux-gnu
    export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    cargo build --release --target aarch64-unknown-linux-gnu --bin cullet
    tools/compare_processors.py --cullet target/release/cullet \\
        --other "qemu-aarch64 -L /usr/aarch64-linux-gnu target/aarch64-unknown-linux-gnu/release/cullet" --set "time.end=1 ms"

The smoke size of the shot is packed by PROGRAM and simulated by both. Exits with 0 if all files are the same, except for wall times
(store.json and the column `seconds` of the history), else with 1.
"""

import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from kill_and_resume import ROOT, contents, difference


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cullet", required=True, help="the program")
    parser.add_argument("--other", required=True, help="command that runs the other build")
    parser.add_argument("--shot", type=pathlib.Path, default=ROOT / "pipelines/bunny_drop.toml")
    parser.add_argument("--set", action="append", default=[], help="further settings of the shot")
    options = parser.parse_args()
    settings = []
    for setting in ["scale=smoke", "simulate.backend=cpu", "simulate.state_every=1"] + options.set:
        settings += ["--set", setting]
    with tempfile.TemporaryDirectory() as base:
        # Files are named after the store's folder, so that is always the same.
        stores = [pathlib.Path(base) / name / "store" for name in ("one", "two")]
        cullet = str(pathlib.Path(options.cullet).resolve())
        run = ["run", str(options.shot), "--quiet", *settings, "--out"]
        subprocess.run([cullet, *run, str(stores[0]), "--to", "pack"], check=True)
        shutil.copytree(*stores)
        for command, store in zip([[cullet], shlex.split(options.other)], stores):
            clock = time.monotonic()
            subprocess.run([*command, "simulate", str(store), "--quiet"], check=True)
            print(f"{command[-1]}: {time.monotonic() - clock:.1f} s")
        one, two = (contents(store) for store in stores)
        wrong = difference(one, two)
    print(f"{len(one)} files: {wrong or 'all the same'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
