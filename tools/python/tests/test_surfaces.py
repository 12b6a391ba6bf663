"""Surfaces as arrays, compared with exports."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import cullet


def read_obj(path: Path):
    lines = [line.split() for line in path.read_text().splitlines()]
    vertices = np.array([line[1:4] for line in lines if line and line[0] == "v"], dtype=np.float64)
    faces = [[int(corner.split("/")[0]) - 1 for corner in line[1:]] for line in lines if line and line[0] == "f"]
    return vertices, np.array(faces)


def volume(positions, triangles):
    a, b, c = (positions[triangles[:, k]].astype(np.float64) for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def test_arrays_are_those_that_are_exported(shot, tmp_path):
    [file] = cullet.export(shot, "obj", frames=4, to=tmp_path / "obj", up="y", scale=1)
    vertices, faces = read_obj(file)
    surface = shot.surface(4)
    assert vertices.shape == surface.positions.shape and faces.shape == surface.triangles.shape
    assert np.allclose(vertices, surface.positions, atol=1e-6)
    assert volume(vertices, faces) == pytest.approx(volume(surface.positions, surface.triangles), rel=1e-5)


def test_shapes_types_and_ranges(shot):
    surface = shot.surface(4)
    n, m = len(surface.positions), len(surface.triangles)
    assert n > 1000 and m > 1000
    for name in ("positions", "normals", "velocities", "rest_positions"):
        array = getattr(surface, name)
        assert (array.shape, array.dtype) == ((n, 3), np.float32)
    assert (surface.stress.shape, surface.inside.shape, surface.inside.dtype) == ((n,), (m,), np.bool_)
    assert surface.triangles.dtype == np.uint32 and surface.triangles.max() == n - 1
    assert np.allclose(np.linalg.norm(surface.normals, axis=1), 1, atol=1e-4)
    assert 0 < surface.inside.sum() < m
    assert (surface.uv, surface.colours, surface.materials, surface.material_names) == (None, None, None, [])
    assert (surface.frame, surface.time) == (4, shot.times[4])
    assert repr(surface).startswith("<cullet.Surface of frame 4 at ")


def test_fragments_are_closed_and_labelled(shot):
    surface = shot.surface(5)
    labels = {fragment.label for fragment in surface.fragments}
    polars = pytest.importorskip("polars")
    assert labels == set(polars.DataFrame(shot.fragments(5, columns=["fragment"]))["fragment"].to_list())
    for fragment in surface.fragments:
        triangles = surface.triangles[fragment.triangles]
        assert triangles.min() >= fragment.vertices.start and triangles.max() < fragment.vertices.stop
        edges = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        assert {tuple(edge) for edge in edges.tolist()} == {(b, a) for a, b in edges.tolist()}
        assert (surface.vertex_fragments[fragment.vertices] == fragment.label).all()
        assert (surface.triangle_fragments[fragment.triangles] == fragment.label).all()


def test_arrays_are_views_that_outlive_the_surface(shot):
    surface = shot.surface(3)
    positions, again = surface.positions, surface.positions
    assert np.shares_memory(positions, again) and not positions.flags.writeable
    copied = positions.copy()
    del surface, again
    gc.collect()
    shot.surface(2)
    assert (positions == copied).all()


def test_textures_colours_and_materials_are_read(tmp_path, ball):
    corners = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nv 0 0 1 1 1 1\nvt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\n"
    faces = "usemtl skin\nf 1/1 3/3 2/2\nf 1/1 2/2 4/4\nf 1/1 4/4 3/3\nf 2/2 3/3 4/4\n"
    (tmp_path / "tetrahedron.obj").write_text(corners + faces)
    ball["body"][0]["shape"] = {"type": "mesh", "file": "tetrahedron.obj", "scale": 0.04}
    store = cullet.run(ball, out=tmp_path / "s", base=tmp_path, to="reconstruct", set={"time.end": "1 ms"})
    surface = store.surface(1)
    m = len(surface.triangles)
    assert surface.uv.shape == (m, 3, 2) and surface.colours.shape == (m, 3, 3)
    assert surface.material_names == ["skin"] and set(surface.materials.tolist()) <= {0, 2**32 - 1}
    assert (surface.materials[~surface.inside] == 0).all()


def test_frames_without_surfaces_say_what_to_run(shot):
    with pytest.raises(cullet.BadInput, match=r"000099\.rkyv: missing; run `cullet reconstruct` first"):
        shot.surface(99)
    assert [surface.frame for surface in shot.surfaces(slice(2, 4))] == [2, 3]
