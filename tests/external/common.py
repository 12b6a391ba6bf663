"""What the checks share: finding the package, ending with the right status."""

import importlib
import sys
from pathlib import Path

SKIPPED = 77


def need(*names):
    """The modules called `names`, or the end of the check with status 77."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)


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
