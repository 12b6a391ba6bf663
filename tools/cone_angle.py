"""How a Hertzian cone runs (pipelines/hertzian_cone.toml): its radius at each depth and its angle from the surface.

    cullet run pipelines/hertzian_cone.toml --to simulate --out shot
    python3 tools/cone_angle.py shot [--frame N] [--json]        (pip install numpy duckdb)

The crack consists of the elements that have lost all their bonds. As the ring is not a perfect circle, twelve sectors around the axis are used: in each a
straight line is fitted to the crack below the ring (deeper than three radii), distance from the axis over depth at rest; the result is the median angle.
(Fitting depth over distance, or both alike, would give a flatter cone: the crack has a width, and the cut at three radii is level.)"""

import argparse
import json

import duckdb
import numpy as np

SECTORS = 12


def crack(store, frame):
    """Distance from the axis, depth and azimuth of the elements without bonds, m and rad; the elements' mean radius, m."""
    rows = duckdb.sql(f"""
        WITH ends AS (SELECT i AS id FROM read_parquet('{store}/packing/bonds.parquet') UNION ALL SELECT j FROM read_parquet('{store}/packing/bonds.parquet')),
        bonds AS (SELECT id, count(*) AS bonds FROM ends GROUP BY id)
        SELECT e.x, e.y, e.z, e.r, f.broken >= b.bonds AS gone
        FROM read_parquet('{store}/packing/elements.parquet') e JOIN bonds b USING (id) JOIN read_parquet('{store}/frames/{frame:06}.parquet') f USING (id)
        ORDER BY id""").fetchnumpy()
    gone = rows["gone"].astype(bool)
    x, y, z = (rows[axis][gone] for axis in "xyz")
    return np.hypot(x, z), rows["y"].max() - y, np.arctan2(z, x), rows["r"].mean()


def angles(distance, depth, azimuth, radius):
    """Angle from the surface in each sector with enough crack elements, degrees; over 90 where the crack runs
    inwards."""
    found = []
    for sector in range(SECTORS):
        inside = np.floor((azimuth / (2 * np.pi) + 0.5) * SECTORS) == sector
        inside &= depth > 3 * radius
        if inside.sum() >= 8:
            found.append(np.degrees(np.arctan2(1, np.polyfit(depth[inside], distance[inside], 1)[0])))
    return np.sort(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("--frame", type=int, help="default: the last")
    parser.add_argument("--json", action="store_true", help="JSON instead of text: the angles alone")
    given = parser.parse_args()
    frame = given.frame
    if frame is None:
        frame = duckdb.sql(f"SELECT max(frame) FROM read_parquet('{given.store}/history/*.parquet')").fetchall()[0][0]
    distance, depth, azimuth, radius = crack(given.store, frame)
    if given.json:
        found = angles(distance, depth, azimuth, radius)
        figures = {"angle": np.median(found), "least": found[0], "most": found[-1]} if len(found) else {}
        print(json.dumps({"frame": frame, "gone": len(depth), "sectors": len(found)} | figures, default=float))
        return
    print(f"frame {frame}: {len(depth)} elements without bonds")
    for low in np.arange(0, depth.max(initial=0), 2.5 * radius):
        layer = (depth >= low) & (depth < low + 2.5 * radius)
        if layer.sum() > 3:
            print(f"  depth {1000 * (low + 1.25 * radius):5.1f} mm: {layer.sum():4} elements, distance from the axis {1000 * np.median(distance[layer]):5.1f} mm")
    found = angles(distance, depth, azimuth, radius)
    if len(found):
        print(f"  angle from the surface {np.median(found):.1f} degrees; by sector: {', '.join(f'{angle:.0f}' for angle in found)}")


if __name__ == "__main__":
    main()
