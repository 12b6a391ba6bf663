"""The page of figures, tools/FIGURES.md."""

import textwrap

from .machine import EVERYWHERE, KINDS

HEAD = """# Figures

Run times, memory and accuracy of cullet, and comparisons with other programs. `tools/figures.py measure` writes its
measurements to `tools/figures.json`, and `tools/figures.py write` makes this page from them. Do not edit either by
hand. [The tools][tools] say which packages they need.

Programs are built with `cargo build --release`; `bench` is short for `cargo run --release --example bench --`,
likewise `bench_bem` and `bench_device`. `OUT` is an empty folder. A row without a command has the command of the row
above. If a row names several sizes, its values are in that order. Run times are noisy if the machine has other work:
compare them as ratios. An empty cell has not been measured yet.
"""

MACHINES = """A + after the commit means that files differed from it. The last column names the groups, as
`tools/figures.py list` prints them."""


def footnotes(told):
    """The commits whose README had a figure that no measured one has replaced, and the number of each footnote."""
    carried = {entry["carried"] for figures in told.values() for entry in figures.values() if "carried" in entry}
    return {commit: number for number, commit in enumerate(sorted(carried), 1)}


def cell(figure, entry, notes):
    """A figure on the page."""
    if entry is None:
        return ""
    if "carried" in entry:
        return f"{entry['shown']} [^{notes[entry['carried']]}]"
    return figure.shown(entry["values"])


def commands(run):
    """The commands of a run as the page has them."""
    # A bar would end the cell.
    return "<br>".join(f"`{line}`".replace("|", "\\|") for line in run.commands)


def table(group, told, kinds, notes):
    """Lines of the table of a group."""
    columns = [EVERYWHERE] if group.everywhere else kinds
    names = {EVERYWHERE: "figure", "AVX-512": "with AVX-512", "AVX2": "without (AVX2)", "NEON": "NEON"}
    lines = [
        "| " + " | ".join(["what", *(names[kind] for kind in columns), "command"]) + " |",
        "|---" * (len(columns) + 2) + "|",
    ]
    last = None
    for figure in group.figures:
        entries = (told.get(kind, {}).get(f"{group.name}.{figure.name}") for kind in columns)
        cells = [figure.what, *(cell(figure, entry, notes) for entry in entries)]
        cells.append("" if figure.run is last else commands(figure.run))
        last = figure.run
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def machines(groups, told):
    """Lines of the table of machines: who measured which groups, when and at which commit."""
    rows = {}
    for kind, figures in told.items():
        for name, entry in figures.items():
            if "carried" not in entry:
                key = (kind, entry["processor"], entry["cores"], entry["date"], entry["commit"])
                rows.setdefault(key, set()).add(name.partition(".")[0])
    if not rows:
        return ["No figure has been measured by the command yet."]
    lines = ["| figures | processor | cores | date | commit | of |", "|---|---|---|---|---|---|"]
    for key in sorted(rows, key=lambda key: (key[3], key[0], key[4]), reverse=True):
        of = ", ".join(group.name for group in groups if group.name in rows[key])
        lines.append("| " + " | ".join(map(str, key)) + f" | {of} |")
    return lines


def page(groups, told):
    """The whole page."""
    kinds = [kind for kind in KINDS if kind != "NEON" or told.get(kind)]
    notes = footnotes(told)
    out = [HEAD]
    for group in groups:
        out += [f"{'#' * group.level} {group.heading}", ""]
        out += [textwrap.fill(" ".join(group.text.split()), 120, break_on_hyphens=False), ""] if group.text else []
        out += [*table(group, told, kinds, notes), ""]
    out += ["## Machines", "", MACHINES, "", *machines(groups, told)]
    if notes:
        out.append("")
    for commit, number in notes.items():
        out.append(f"[^{number}]: Measured before figures came from this command; `tools/README.md` at {commit}.")
    out += ["", "[tools]: README.md"]
    return "\n".join(out) + "\n"
