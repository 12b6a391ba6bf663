"""Counts elements a fragment a frame with DuckDB and compares with the store's own table."""

from common import need, run

(duckdb,) = need("duckdb")


def check(store):
    for kind in ("frames", "fragments"):
        assert list((store / kind).glob("*.parquet")), f"no Parquet files in {store / kind}"
    query = duckdb.connect()
    rows, frames = query.execute(
        "select count(*), count(distinct frame) from read_parquet(?)", [str(store / "frames" / "*.parquet")]
    ).fetchone()
    query.execute(
        "create table counted as select frame, fragment, count(*) as elements from read_parquet(?) group by all",
        [str(store / "frames" / "*.parquet")],
    )
    query.execute(
        "create table told as select frame, fragment, elements from read_parquet(?)",
        [str(store / "fragments" / "*.parquet")],
    )
    different = query.execute(
        "select coalesce(counted.frame, told.frame), coalesce(counted.fragment, told.fragment),"
        " counted.elements, told.elements"
        " from counted full join told on counted.frame = told.frame and counted.fragment = told.fragment"
        " where counted.elements is distinct from told.elements order by all limit 5"
    ).fetchall()
    lines = [f"frame {f} fragment {k}: counted {c}, told {t}" for f, k, c, t in different]
    assert not lines, "; ".join(lines)
    pairs = query.execute("select count(*) from counted").fetchone()[0]
    return f"duckdb: {rows} rows, {frames} frames, {pairs} fragment rows agree"


run(check)
