#!/usr/bin/env python3
"""Measures the figures of tools/FIGURES.md and writes that page.

    python tools/figures.py list                        groups of figures, and about how long each takes
    python tools/figures.py measure [--only GROUP,...]  runs the commands, one at a time, into tools/figures.json
    python tools/figures.py write                       writes tools/FIGURES.md from tools/figures.json
    python tools/figures.py check                       ends with 1 if that page is not what `write` writes

`measure` keeps the other figures. It saves after every command, so you can stop it at any time. Figures are
kept by the vector instructions of the machine, each with date, commit, processor and cores. Run nothing else meanwhile.
Tools written in Python run with the Python that runs this one, which needs their packages; the rest needs none. --tiny
tries all commands that have a tiny size; such figures mean nothing, so it asks for a --data of its own.

The measurements are in tools/figures/table_*.py.
"""

import argparse
import json
import sys
from pathlib import Path

from figures import table_bem, table_bending, table_bodies, table_speed
from figures.measure import measure
from figures.page import page

HERE = Path(__file__).resolve().parent
# As on the page, and as they are measured: the most useful first.
GROUPS = [*table_speed.GROUPS, *table_bodies.GROUPS, *table_bem.GROUPS, *table_bending.GROUPS]


def chosen(names):
    """Groups of these names."""
    known = {group.name: group for group in GROUPS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"figures: no such group: {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[name] for name in names] if names else GROUPS


def listed():
    """A line a group."""
    told, minutes = set(), 0
    for group in GROUPS:
        own = sum(run.minutes for run in group.runs())
        minutes += sum(run.minutes for run in group.runs() if run not in told)
        told.update(group.runs())
        print(f"{group.name:18} about {own:4g} min, {len(group.figures):3} figures: {group.heading}")
    print(f"all together about {minutes / 60:.1f} hours")


def loaded(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def saved(file, told):
    """Writes the figures so that a change of one is a change of one line."""
    kinds = []
    for kind in sorted(told):
        lines = [f"    {json.dumps(name)}: {json.dumps(told[kind][name])}" for name in sorted(told[kind])]
        kinds.append(f"  {json.dumps(kind)}: {{\n" + ",\n".join(lines) + "\n  }")
    file.write_text("{\n" + ",\n".join(kinds) + "\n}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("do", choices=["list", "measure", "write", "check"])
    parser.add_argument("--only", default="", help="names of groups, with commas between them; default: all")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes, to try the commands")
    parser.add_argument(
        "--target", type=Path, help="folder with `cullet` and `examples/`; default: built with --release"
    )
    parser.add_argument(
        "--data", type=Path, default=HERE / "figures.json", help="the figures; default: tools/figures.json"
    )
    parser.add_argument("--page", type=Path, default=HERE / "FIGURES.md", help="the page; default: tools/FIGURES.md")
    given = parser.parse_args()
    if given.tiny and given.data.resolve() == HERE / "figures.json":
        parser.error("--tiny: such figures mean nothing; give a --data of their own")
    names = [name for name in given.only.split(",") if name]
    if given.do == "list":
        listed()
    elif given.do == "measure":
        told = loaded(given.data)
        failed = measure(GROUPS, chosen(names), told, given.target, given.tiny, lambda told: saved(given.data, told))
        if failed:
            sys.exit("figures: not measured:\n" + "\n".join(failed))
    elif given.do == "write":
        given.page.write_text(page(GROUPS, loaded(given.data)), encoding="utf-8")
    elif not given.page.exists() or given.page.read_text(encoding="utf-8") != page(GROUPS, loaded(given.data)):
        sys.exit(f"figures: {given.page.name} is stale: run `python tools/figures.py write`")


if __name__ == "__main__":
    main()
