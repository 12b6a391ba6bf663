"""Runs the queries quoted in the READMEs on a store called `shot`, and compares the rows with those in expected/queries.json.

A query is a fenced block after a line `<!-- query: NAME -->`: sql for DuckDB, or python, whose table is called `rows`. Integers and strings
must be equal, other numbers agree within 1e-4 of themselves or a millionth of the column's largest. `check_queries.py STORE --pin` writes the rows
instead: then read what changed.
"""

import json
import math
import os
import re
import sys
from pathlib import Path

from common import need

(duckdb, polars, pandas) = need("duckdb", "polars", "pandas")

HERE = Path(__file__).resolve().parent
PINNED = HERE / "expected" / "queries.json"
TOLERANCE = 1e-4
NOISE = 1e-6
# Of longer tables only this many first rows and the number of rows are pinned.
ROWS = 12


def queries():
    root = HERE.parent.parent
    found = []
    for page in [root / "README.md", *sorted((root / "src").rglob("README.md")), *sorted((root / "src/guide").glob("*.md"))]:
        text = page.read_text()
        here = re.findall(r"^<!-- query: (\S+) -->\n```(\w+)\n(.*?)^```$", text, re.M | re.S)
        assert len(here) == text.count("<!-- query: "), f"a mark in {page} without a block right below it"
        found += here
    return found


def plain(value):
    """A cell as a JSON value."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if value is None or isinstance(value, (int, float)) else str(value)


def table(language, text):
    """The rows of a query, as a dictionary of columns."""
    if language == "sql":
        result = duckdb.connect().execute(text)
        names = [column[0] for column in result.description]
        rows = result.fetchall()
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}
    space = {}
    exec(compile(text, "query", "exec"), space)
    rows = space["rows"]
    if isinstance(rows, polars.DataFrame):
        return rows.to_dict(as_series=False)
    if isinstance(rows, pandas.Series):
        rows = rows.to_frame()
    if rows.index.names != [None]:
        rows = rows.reset_index()
    return rows.to_dict(orient="list")


def result(language, text):
    columns = {name: [plain(value) for value in values] for name, values in table(language, text).items()}
    count = len(next(iter(columns.values())))
    return {"count": count, "columns": {name: values[:ROWS] for name, values in columns.items()}}


def number(value):
    return isinstance(value, (int, float))


def same(found, wanted, noise):
    if number(found) and number(wanted) and not (isinstance(found, int) and isinstance(wanted, int)):
        return math.isclose(found, wanted, rel_tol=TOLERANCE, abs_tol=noise)
    return found == wanted


def compare(name, found, wanted):
    assert found["count"] == wanted["count"], f"{name}: {found['count']} rows, pinned {wanted['count']}"
    assert list(found["columns"]) == list(wanted["columns"]), f"{name}: columns {list(found['columns'])}"
    for column, values in wanted["columns"].items():
        noise = NOISE * max((abs(value) for value in values if number(value)), default=0.0)
        for row, (a, b) in enumerate(zip(found["columns"][column], values, strict=True)):
            assert same(a, b, noise), f"{name}: row {row}, {column}: {a}, pinned {b}"


def main():
    store = Path(sys.argv[1]).resolve()
    assert store.name == "shot", "the queries read a store called shot"
    os.chdir(store.parent)
    found = {name: result(language, text) for name, language, text in queries()}
    if sys.argv[2:] == ["--pin"]:
        PINNED.parent.mkdir(exist_ok=True)
        PINNED.write_text(json.dumps(found, indent=1) + "\n")
        return
    wanted = json.loads(PINNED.read_text())
    assert list(found) == list(wanted), f"the READMEs have {list(found)}, pinned are {list(wanted)}"
    for name in wanted:
        assert found[name]["count"] > 0, f"{name} finds nothing"
        compare(name, found[name], wanted[name])
    rows = sum(query["count"] for query in found.values())
    print(f"duckdb {duckdb.__version__}, polars {polars.__version__}, pandas {pandas.__version__}: {len(found)} queries, {rows} rows as pinned")


try:
    main()
except AssertionError as error:
    print(f"failed: {error}", file=sys.stderr)
    sys.exit(1)
