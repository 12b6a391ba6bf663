"""Finds the program `cullet`."""

from __future__ import annotations

import os
import shutil
import sysconfig
from importlib import metadata
from pathlib import Path

from ._errors import ProgramNotFound

VARIABLE = "CULLET_PROGRAM"
"""Environment variable that names another program."""


def find_program() -> Path:
    """The program: what `CULLET_PROGRAM` names, else the one that this package brought along, else that in `PATH`."""
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise ProgramNotFound(f"{VARIABLE} is {named}, where there is no file")
        return Path(named)
    places = list(dict.fromkeys(_own_places()))
    for place in places:
        if place.is_file():
            return place
    found = shutil.which("cullet")
    if found is not None:
        return Path(found)
    looked = ", ".join(str(place) for place in places)
    raise ProgramNotFound(
        f"no program cullet in {looked} or in PATH; install the package again, or name one by {VARIABLE}"
    )


def _own_places() -> list[Path]:
    """Where installers put the program of a wheel."""
    name = "cullet" + (sysconfig.get_config_var("EXE") or "")
    places = []
    try:
        for file in metadata.distribution("cullet").files or []:
            if file.name == name and file.parent.name in ("bin", "Scripts"):
                places.append(Path(str(file.locate())).resolve())
    except metadata.PackageNotFoundError:
        pass
    # `pip install --target` moves the program beside the packages after it has recorded its place.
    beside = Path(__file__).resolve().parent.parent
    places += [beside / folder / name for folder in ("bin", "Scripts")]
    schemes = [sysconfig.get_default_scheme() if hasattr(sysconfig, "get_default_scheme") else None, f"{os.name}_user"]
    for scheme in schemes:
        scripts = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        if scripts:
            places.append(Path(scripts) / name)
    return places
