"""Scripts in Python do what those of the READMEs do in the shell and in SQL."""

from __future__ import annotations

import math
import re
import shlex
import subprocess

import pytest

import cullet
from conftest import BUNNY, REPOSITORY

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

PAGES = [REPOSITORY / "README.md", REPOSITORY / "src/store/README.md"]
TWINS = (REPOSITORY / "tools/python/README.md").read_text(encoding="utf-8")


def marked(text, mark):
    return re.findall(rf"^<!-- {mark}: (\S+) -->\n```(\w+)\n(.*?)^```$", text, re.M | re.S)


QUERIES = {name: (language, body) for page in PAGES for name, language, body in marked(page.read_text(), "query")}


def columns(rows):
    """A result of any library as a dictionary of columns."""
    if isinstance(rows, duckdb.DuckDBPyRelation):
        rows = rows.pl()
    if isinstance(rows, pandas.DataFrame):
        rows = polars.from_pandas(rows.reset_index() if rows.index.names != [None] else rows)
    return rows.to_dict(as_series=False)


def test_every_query_has_a_twin():
    assert QUERIES.keys() == {name for name, _, _ in marked(TWINS, "twin")}
    assert len(QUERIES) == 8


@pytest.mark.parametrize(("name", "body"), [(name, body) for name, _, body in marked(TWINS, "twin")])
def test_queries_find_the_same(shot, monkeypatch, name, body):
    monkeypatch.chdir(shot.path.parent)
    language, text = QUERIES[name]
    if language == "sql":
        wanted = duckdb.connect().sql(text)
    else:
        space = {}
        exec(compile(text, name, "exec"), space)
        wanted = space["rows"]
    space = {"store": shot, "duckdb": duckdb, "pandas": pandas, "polars": polars, "pyarrow": pyarrow}
    exec(compile(body, name, "exec"), space)
    found, wanted = columns(space["rows"]), columns(wanted)
    assert list(found) == list(wanted)
    for column, values in wanted.items():
        assert len(values) > 0 and len(found[column]) == len(values), column
        for a, b in zip(found[column], values):
            same = a == b if isinstance(b, str) else math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
            assert same, (column, a, b)


def test_the_script_of_stages_writes_the_same_files(tmp_path, monkeypatch):
    (shell,) = (body for body in re.findall(r"```sh\n(.*?)```", PAGES[0].read_text(), re.S) if "cullet pack" in body)
    (python,) = re.findall(r"^<!-- stages -->\n```python\n(.*?)^```$", TWINS, re.M | re.S)
    small = ["--set", "scale=smoke", "--set", "time.end=3 ms"]
    program = str(cullet.find_program())
    folders = [tmp_path / "shell", tmp_path / "python"]
    for folder in folders:
        folder.mkdir()
        (folder / "pipelines").symlink_to(BUNNY.parent)
    for line in shell.splitlines():
        words = shlex.split(line, comments=True)
        if words[1] == "view":  # serves until it is ended
            continue
        words = [program, *words[1:], *(small if words[1] in ("check", "pack") else [])]
        words = ["1 ms" if word == "20 ms" else word for word in words]
        subprocess.run(words, cwd=folders[0], check=True, capture_output=True)
    monkeypatch.chdir(folders[1])
    settings = 'set={"scale": "smoke", "time.end": "3 ms"}'
    python = python.replace('bunny_drop.toml"', f'bunny_drop.toml", {settings}').replace("20 ms", "1 ms")
    exec(compile(python, "stages", "exec"), {"cullet": cullet})
    stores = [cullet.Store(folder / "shot") for folder in folders]
    names = [set(store.manifest["files"]) for store in stores]
    assert names[0] == names[1] and len(names[0]) > 20
    timed = ("history", "plots")  # hold or draw wall times
    for name in names[0]:
        if name.split("/")[0] not in timed:
            assert (stores[0].path / name).read_bytes() == (stores[1].path / name).read_bytes(), name


def test_the_pipeline_of_dataclasses_runs(tmp_path, monkeypatch):
    (body,) = (text for text in re.findall(r"```python\n(.*?)```", TWINS, re.S) if "Pipeline(" in text)
    monkeypatch.chdir(tmp_path)
    space = {"cullet": cullet}
    exec(compile(body.replace('out="ball"', 'out="ball", to="simulate"'), "pipeline", "exec"), space)
    assert space["store"].frame_numbers == [0, 1, 2, 3, 4]
