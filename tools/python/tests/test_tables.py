"""Tables in Polars, pandas, pyarrow and DuckDB."""

from __future__ import annotations

import pytest

import cullet

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TABLES = ["frames", "breaks", "fragments", "history", "loads"]


@pytest.mark.parametrize("kind", TABLES)
def test_every_value_is_that_of_the_file(shot, kind):
    path = shot.path / kind / "000001.parquet"
    expected = polars.read_parquet(path, use_pyarrow=True)
    assert expected.height > 0
    table = rows = getattr(shot, kind)(1)  # noqa: F841 DuckDB finds `rows` by its name
    assert len(table) == expected.height
    assert polars.DataFrame(table).equals(expected)
    assert pyarrow.table(table).equals(parquet.read_table(path))
    assert polars.from_pandas(pyarrow.table(table).to_pandas()).equals(expected)
    assert duckdb.sql("FROM rows").pl().equals(expected)
    all_frames = polars.concat(polars.read_parquet(shot.path / kind / f"{n:06}.parquet") for n in shot.frame_numbers)
    assert polars.DataFrame(getattr(shot, kind)()).equals(all_frames)


def test_pandas_takes_the_table_itself(shot):
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip("pandas before 3")
    table = shot.history(columns=["frame", "kinetic"])
    assert pandas.DataFrame.from_arrow(table).equals(pyarrow.table(table).to_pandas())


def test_the_packing_is_read(shot):
    elements, bonds = polars.DataFrame(shot.elements()), polars.DataFrame(shot.bonds())
    assert elements.equals(polars.read_parquet(shot.path / "packing/elements.parquet"))
    assert bonds.equals(polars.read_parquet(shot.path / "packing/bonds.parquet"))
    for table in (shot.cells(), shot.faces(), shot.sleep(), shot.convergence()):
        empty = polars.DataFrame(table)
        assert (len(table), empty.height) == (0, 0) and empty.width == len(table.columns) > 5


def test_columns_and_frames_are_chosen(shot):
    table = shot.frames([5, 2], columns=["id", "x", "frame"])
    found = polars.DataFrame(table)
    assert found.columns == ["id", "x", "frame"] == [column.name for column in table.columns]
    assert found["frame"].unique(maintain_order=True).to_list() == [5, 2]
    numbers = [
        (slice(2, 4), [2, 3]),
        (slice(5, None), [5, 6]),
        (slice(None, None, 3), [0, 3, 6]),
        (slice(90, None), []),
    ]
    for wanted, expected in numbers:
        frames = polars.DataFrame(shot.history(wanted, columns=["frame"]))["frame"].to_list()
        assert frames == expected
    assert polars.DataFrame(shot.history(range(4), columns=["frame"])).height == 4


def test_units_and_meanings_come_with_the_columns(shot):
    [x] = shot.frames(0, columns=["x"]).columns
    assert x == cullet.Column("x", "Float32", "m", "position")
    field = pyarrow.table(shot.breaks(3)).schema.field("energy")
    assert field.metadata[b"unit"] == b"J"
    assert "frames: frame, time" in repr(shot.frames(0))


def test_wrong_columns_and_frames_are_named(shot):
    with pytest.raises(cullet.BadInput, match=r'000001\.parquet: has no column "speed"; there are frame, time, id, x,'):
        polars.DataFrame(shot.frames(1, columns=["speed"]))
    with pytest.raises(cullet.BadInput, match=r"frames.000099\.parquet: missing; run `cullet simulate` first"):
        polars.DataFrame(shot.frames(99))
    for columns in ([], ["x", "x"]):
        with pytest.raises(cullet.BadInput, match="is empty or names a column twice"):
            shot.frames(0, columns=columns)
    with pytest.raises(cullet.BadInput, match="a list of names is expected"):
        shot.frames(0, columns="x")
    with pytest.raises(cullet.BadInput, match="frame -1: frame numbers are at least 0"):
        shot.frames(-1)
    with pytest.raises(cullet.BadInput, match="counts from the end"):
        shot.frames(slice(-2, None))


def test_a_column_that_was_left_out_says_how_to_get_it(tmp_path, ball):
    ball["output"] = {"columns": ["position", "rotation", "fragment"]}
    store = cullet.run(ball, out=tmp_path / "s", to="simulate", set={"time.end": "1 ms"})
    with pytest.raises(cullet.BadInput, match='add "velocity" to output.columns'):
        polars.DataFrame(store.frames(1, columns=["vx"]))


def test_an_error_in_a_later_file_reaches_the_reader(shot):
    with pytest.raises(Exception, match=r"000099\.parquet: missing; run `cullet simulate` first"):
        polars.DataFrame(shot.frames([0, 99]))


def test_the_store_says_what_it_holds(shot):
    assert shot.frame_numbers == list(range(7)) == shot.surface_numbers
    history = polars.DataFrame(shot.history())
    assert shot.times == dict(zip(history["frame"].to_list(), history["time"].to_list()))
    assert [body["name"] for body in shot.bodies] == ["bunny"] and shot.materials[0]["young"] == 1e9
    assert shot.pipeline["time"]["frames_per_second"] == 1200
    assert shot.state_numbers[-1] == 6
    assert shot.manifest["units"] == "SI"
    assert repr(shot).startswith("cullet.Store(")
