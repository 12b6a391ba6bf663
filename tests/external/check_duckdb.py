"""Counts the elements of each fragment in each frame with DuckDB and compares them with the store's own table."""

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
        "create table stored as select frame, fragment, elements from read_parquet(?)",
        [str(store / "fragments" / "*.parquet")],
    )
    different = query.execute(
        "select coalesce(counted.frame, stored.frame), coalesce(counted.fragment, stored.fragment),"
        " counted.elements, stored.elements"
        " from counted full join stored on counted.frame = stored.frame and counted.fragment = stored.fragment"
        " where counted.elements is distinct from stored.elements order by all limit 5"
    ).fetchall()
    lines = [f"frame {f} fragment {k}: counted {c}, stored {t}" for f, k, c, t in different]
    assert not lines, "; ".join(lines)
    pairs = query.execute("select count(*) from counted").fetchone()[0]
    return f"duckdb: {rows} rows, {frames} frames, {pairs} fragment rows agree"


run(check)
