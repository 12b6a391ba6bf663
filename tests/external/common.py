"""Shared by the checks: importing packages, exporting, exit status."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def need(*names):
    """The modules called `names`; ends the check with status 77 if one is missing."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)


def usd_file(given):
    """The USD file of a store's surfaces, or the file itself."""
    if given.is_file():
        return given
    files = [file for file in (given / "exports").glob("*.usdc") if not file.name.endswith(".elements.usdc")]
    assert len(files) == 1, f"{len(files)} USD files of surfaces in {given / 'exports'}"
    return files[0]


def export(store, target, *options):
    """Exports a store by the program named in the environment variable CULLET."""
    subprocess.run([os.environ.get("CULLET", "cullet"), "export", store, *options, "--to", target, "--quiet"], check=True)


def argument():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(sys.argv[0]).name} STORE")
    return Path(sys.argv[1])


def run(check):
    """Runs `check(store)`, which returns the line of figures or raises AssertionError."""
    store = argument()
    try:
        print(check(store))
    except AssertionError as error:
        print(f"failed: {error}", file=sys.stderr)
        sys.exit(1)
