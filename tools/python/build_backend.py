"""Builds the package with maturin, after the program that goes into the wheel.

The program and the extension are targets of one crate, so that the library is compiled once. maturin takes the program
from the folder `data/scripts`, from where installers put it into `PATH`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import maturin

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "data" / "scripts"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable


def build_program(
    cargo: tuple[str, ...] = ("cargo", "build"), target: str | None = None, profile: str = "release"
) -> Path:
    """Compiles the program and returns its file."""
    command = [*cargo, "--profile", profile, "--locked", "--bin", "cullet"]
    command += ["--message-format", "json-render-diagnostics"]
    if target is not None:
        command += ["--target", target]
    done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, check=True)
    messages = (json.loads(line) for line in done.stdout.splitlines())
    files = [message["executable"] for message in messages if message.get("executable")]
    return Path(files[-1])


@contextlib.contextmanager
def program_in_data(program: Path) -> Iterator[None]:
    """Within, the program lies where maturin looks for it."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    copy = SCRIPTS / program.name
    shutil.copy2(program, copy)
    if sys.platform != "win32" and shutil.which("strip") is not None:
        subprocess.run(["strip", str(copy)], check=True)
    try:
        yield
    finally:
        shutil.rmtree(SCRIPTS.parent)


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Builds a wheel with the program."""
    with program_in_data(build_program()):
        name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Builds a wheel that refers to the sources."""
    with program_in_data(build_program()):
        name: str = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    return name


def main() -> None:
    """Writes a wheel into the folder of the first argument.

    With `--manylinux` one for older Linux distributions, with `--quick` one for tests, which compiles faster.
    """
    out = str(Path(sys.argv[1]).absolute())
    profile = "quick" if "--quick" in sys.argv[2:] else "release"
    options = ["--profile", profile, "--locked", "--out", out]
    if "--manylinux" in sys.argv[2:]:
        machine = os.uname().machine
        target = f"{machine}-unknown-linux-gnu"
        program = build_program(("cargo", "zigbuild"), f"{target}.2.17", profile)
        options += ["--zig", "--target", target, "--compatibility", "manylinux2014"]
    else:
        program = build_program(profile=profile)
    with program_in_data(program):
        subprocess.run([sys.executable, "-m", "maturin", "build", *options], cwd=HERE, check=True)


if __name__ == "__main__":
    main()
