"""What a measurement is: the commands that make it, and how its figures are read out of what they print."""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property

MOST = "most"  # in place of a number of threads: as many as were measured


@dataclass(frozen=True)
class Run:
    """Commands, one after another; each is a line of words.

    The first word names the program: `cullet`, `bench`, `bench_bem`, `bench_device` or `python`. `OUT` stands for a
    folder that is empty at first and kept until the last command has ended.
    """

    commands: tuple
    minutes: float
    tiny: tuple = ()  # the same commands at a tiny size


def run(minutes, commands, tiny=None):
    """A run of the commands in a text, one a line."""
    lines = lambda text: tuple(line.strip() for line in text.strip().splitlines())
    return Run(lines(commands), minutes, lines(tiny) if tiny else ())


@dataclass
class Printed:
    """What one command printed, and what it took."""

    text: str
    seconds: float  # on the clock
    user: float  # of the processor, all threads together, s
    peak: float  # memory of its largest process, MB

    @cached_property
    def json(self):
        """The printed JSON; a list where there is one a line."""
        try:
            return json.loads(self.text)
        except json.JSONDecodeError:
            return [json.loads(line) for line in self.text.splitlines() if line.startswith("{")]


@dataclass
class Figure:
    """A row of the page: one quantity, of one size or of several."""

    name: str
    what: str
    run: Run
    read: object  # from a list of Printed to a list of numbers
    form: str = "{:.1f}"
    unit: str = ""
    joint: str = "; "

    def shown(self, values):
        """The values as the page has them."""
        return self.joint.join(self.form.format(value) for value in values) + (f" {self.unit}" if self.unit else "")


@dataclass
class Group:
    """A heading of the page with its rows."""

    name: str
    heading: str
    text: str
    figures: list = field(default_factory=list)
    level: int = 2
    everywhere: bool = False  # the figures do not depend on the machine

    def runs(self):
        """Runs of the group, each once, in order."""
        return list(dict.fromkeys(figure.run for figure in self.figures))


# ---------------------------------------------------------------- readers


def matching(rows, where):
    """Rows with these values; `MOST` takes the largest number."""
    for key, value in where.items():
        if value == MOST:
            value = max(row[key] for row in rows)
        rows = [row for row in rows if row.get(key) == value]
    return rows


def column(key, scale=1.0, table=None, at=-1, **where):
    """Reads a column of a table of rows that a command printed."""

    def read(printed):
        rows = printed[at].json
        rows = rows[table] if table else rows
        rows = [rows] if isinstance(rows, dict) else rows
        found = [row.get(key) for row in matching(rows, where)]
        return [scale * value for value in found if value is not None]

    return read


def over(key, below, table=None, at=-1, **where):
    """Reads the ratio of two columns."""
    above, under = column(key, 1.0, table, at, **where), column(below, 1.0, table, at, **where)
    return lambda printed: [a / b for a, b in zip(above(printed), under(printed))]


def each(key, scale=1.0):
    """Reads one value of every command, each of which printed one row."""

    def read(printed):
        rows = [row for one in printed for row in ([one.json] if isinstance(one.json, dict) else one.json)]
        return [scale * row[key] for row in rows if row.get(key) is not None]

    return read


def path(*keys, scale=1.0, at=-1):
    """Reads the value at a path of keys."""

    def read(printed):
        value = printed[at].json
        for key in keys:
            value = value[key]
        return [scale * value]

    return read


def paths(*all_keys, scale=1.0, at=-1):
    """Reads the values at several paths, each a text with dots."""
    return lambda printed: [value for keys in all_keys for value in path(*keys.split("."), scale=scale, at=at)(printed)]


def peaks(*at):
    """Reads the peak memory of commands, MB."""
    return lambda printed: [printed[k].peak for k in at]


def clocks(*at):
    """Reads the seconds of commands."""
    return lambda printed: [printed[k].seconds for k in at]


def numbers(pattern, scale=1.0, at=-1):
    """Reads all numbers that a pattern finds in what a command printed."""
    return lambda printed: [scale * float(found) for found in re.findall(pattern, printed[at].text, re.MULTILINE)]
