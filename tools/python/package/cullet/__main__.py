"""`python -m cullet` is the program `cullet`."""

from __future__ import annotations

import sys

from ._program import replace_by_program

if __name__ == "__main__":
    sys.exit(replace_by_program(sys.argv[1:]))
