"""cullet simulates how solids break: its stages as functions, its frame store as tables and arrays.

import cullet

store = cullet.run("shot.toml", set={"scale": "smoke"}, on_progress=print)
polars.DataFrame(store.fragments())     # or pyarrow.table(…), duckdb.sql(…), pandas.DataFrame.from_arrow(…)
store.surface(12).positions             # NumPy
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from . import spec
from ._errors import BadInput, Error, Failed, Interrupted, ProgramNotFound
from ._find import find_program
from ._program import Progress, interrupt
from .spec import Pipeline
from .stages import (
    adapters,
    calibrate,
    check,
    check_mesh,
    export,
    inspect,
    jobs,
    pack,
    plot,
    preview,
    reconstruct,
    run,
    schema,
    simulate,
    stress,
    validate,
)
from .store import Column, Fragment, Store, Surface, Table
from .viewer import Viewer, view, view_page

try:
    __version__ = version("cullet")
except PackageNotFoundError:  # a folder of sources
    __version__ = "0"

__all__ = [
    "BadInput",
    "Column",
    "Error",
    "Failed",
    "Fragment",
    "Interrupted",
    "Pipeline",
    "ProgramNotFound",
    "Progress",
    "Store",
    "Surface",
    "Table",
    "Viewer",
    "adapters",
    "calibrate",
    "check",
    "check_mesh",
    "export",
    "find_program",
    "inspect",
    "interrupt",
    "jobs",
    "pack",
    "plot",
    "preview",
    "reconstruct",
    "run",
    "schema",
    "simulate",
    "spec",
    "stress",
    "validate",
    "view",
    "view_page",
]
