"""The frame store: its tables through Arrow, its surfaces as NumPy arrays."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, Union

from ._errors import BadInput
from ._native import NativeStore, NativeSurface, NativeTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FrameNumbers = Union[SupportsIndex, slice, range, Iterable[int], None]
"""One frame, several, or None for all. A slice chooses among the frames there are, by their numbers."""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    """Name."""
    type: str
    """Arrow type."""
    unit: str
    """SI unit; "1" for a pure number, "" for a column that cullet does not know."""
    description: str
    """Meaning."""


class Table:
    """Columns of a table of the store, read when they are asked for.

    Any library that reads Arrow takes it, without a copy: `polars.DataFrame(rows)`, `pyarrow.table(rows)`,
    `duckdb.sql("FROM rows")`, `pandas.DataFrame.from_arrow(rows)`. Each reads the files again.
    """

    def __init__(self, native: NativeTable, name: str) -> None:
        """Use the methods of `Store` instead."""
        self._native = native
        self._name = name

    def __len__(self) -> int:
        """Number of rows."""
        return self._native.rows()

    def __repr__(self) -> str:
        """The name of the table and its columns."""
        return f"<cullet.Table {self._name}: {', '.join(column.name for column in self.columns)}>"

    @property
    def columns(self) -> list[Column]:
        """The columns, with type, unit and meaning."""
        return [Column(*column) for column in self._native.describe()]

    def __arrow_c_schema__(self) -> object:
        """The schema, for libraries that read Arrow."""
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, frame by frame, for libraries that read Arrow."""
        return self._native.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class Fragment:
    """A fragment of a frame, and its ranges in the arrays of the frame's surface."""

    body: int
    """Index of the body."""
    label: int
    """Label, as in the tables."""
    vertices: slice
    """Its vertices."""
    triangles: slice
    """Its triangles, whose indices count from the first vertex of the frame."""


class Surface:
    """The surfaces of the fragments in a frame, each closed, as flat arrays.

    The arrays are read-only views of the memory that holds the frame; copy one to change it.
    """

    def __init__(self, native: NativeSurface) -> None:
        """Use `Store.surface` instead."""
        self._native = native

    def __repr__(self) -> str:
        """Frame, time and sizes."""
        counts = f"{len(self.fragments)} fragments, {len(self.positions)} vertices, {len(self.triangles)} triangles"
        return f"<cullet.Surface of frame {self.frame} at {self.time:.6g} s: {counts}>"

    @property
    def frame(self) -> int:
        """Frame number."""
        return self._native.frame

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._native.time

    @property
    def positions(self) -> NDArray[np.float32]:
        """Positions of the vertices, m, (n, 3)."""
        return self._array("positions")

    @property
    def normals(self) -> NDArray[np.float32]:
        """Unit normals of the vertices, outward, (n, 3)."""
        return self._array("normals")

    @property
    def velocities(self) -> NDArray[np.float32]:
        """Velocities of the vertices, m/s, (n, 3)."""
        return self._array("velocities")

    @property
    def rest_positions(self) -> NDArray[np.float32]:
        """Positions of the vertices at rest, m, (n, 3)."""
        return self._array("rest_positions")

    @property
    def stress(self) -> NDArray[np.float32]:
        """Largest normal stress of the bonds near each vertex, Pa, (n,)."""
        return self._array("stress")

    @property
    def triangles(self) -> NDArray[np.uint32]:
        """Vertices of the triangles, counter-clockwise seen from outside, (m, 3)."""
        return self._array("triangles")

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each triangle is on a crack face, not on the skin of a body, (m,)."""
        return self._array("inside")

    @property
    def uv(self) -> NDArray[np.float32] | None:
        """Texture coordinates of the corners of triangles, (m, 3, 2), v from the bottom; None: no body has any."""
        return self._optional("uv")

    @property
    def colours(self) -> NDArray[np.float32] | None:
        """Red, green and blue of the corners of triangles, (m, 3, 3); None: no body has any."""
        return self._optional("colours")

    @property
    def materials(self) -> NDArray[np.uint32] | None:
        """Index into `material_names` of each triangle, 4294967295 without one, (m,); None: no body has any."""
        return self._optional("materials")

    @property
    def material_names(self) -> list[str]:
        """Names of the materials that the meshes of bodies give their triangles."""
        return self._native.material_names

    @property
    def fragments(self) -> list[Fragment]:
        """The fragments, ordered by (body, label)."""
        return [
            Fragment(body, label, slice(vertex, vertex + vertices), slice(triangle, triangle + triangles))
            for body, label, vertex, vertices, triangle, triangles in self._native.fragments()
        ]

    @property
    def vertex_fragments(self) -> NDArray[np.uint32]:
        """Label of the fragment of each vertex, (n,)."""
        return self._labels(len(self.positions), [(part.vertices, part.label) for part in self.fragments])

    @property
    def triangle_fragments(self) -> NDArray[np.uint32]:
        """Label of the fragment of each triangle, (m,)."""
        return self._labels(len(self.triangles), [(part.triangles, part.label) for part in self.fragments])

    @staticmethod
    def _labels(length: int, parts: list[tuple[slice, int]]) -> NDArray[np.uint32]:
        import numpy as np

        labels = np.zeros(length, dtype=np.uint32)
        for part, label in parts:
            labels[part] = label
        return labels

    def _array(self, name: str) -> NDArray[Any]:
        import numpy as np

        array: NDArray[Any] = np.asarray(self._native.array(name))
        return array

    def _optional(self, name: str) -> NDArray[Any] | None:
        array = self._array(name)
        return array if len(array) else None


class Store:
    """A frame store, open for reading.

    What it reads is checked against the checksums that `store.json` had when it was opened. Open it again after a
    stage has written to it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens the store in the folder `path`."""
        self.path = Path(path)
        """The folder."""
        self._native = NativeStore(os.fspath(path))

    def __repr__(self) -> str:
        """The folder."""
        return f"cullet.Store({os.fspath(self.path)!r})"

    def __fspath__(self) -> str:
        """The folder."""
        return os.fspath(self.path)

    @property
    def manifest(self) -> dict[str, Any]:
        """Contents of `store.json`: schema version, pipeline, records of the stages, checksums."""
        contents: dict[str, Any] = json.loads(self._native.manifest())
        return contents

    @property
    def pipeline(self) -> dict[str, Any] | None:
        """The pipeline as resolved, in SI units; None in a store of another program."""
        return self.manifest.get("pipeline")

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Bodies of the pipeline; the column `body` is the index."""
        return list((self.pipeline or {}).get("body", []))

    @property
    def materials(self) -> list[dict[str, Any]]:
        """Materials of the pipeline; the column `material` is the index."""
        return list((self.pipeline or {}).get("material", []))

    @property
    def frame_numbers(self) -> list[int]:
        """Numbers of the frames, ascending."""
        return self._native.numbers("frames", "parquet")

    @property
    def surface_numbers(self) -> list[int]:
        """Numbers of the frames that have surfaces, ascending."""
        return self._native.numbers("meshes", "rkyv")

    @property
    def state_numbers(self) -> list[int]:
        """Numbers of the frames from which a simulation can go on, ascending; `history` has their step and time."""
        return self._native.numbers("state", "rkyv")

    @property
    def times(self) -> dict[int, float]:
        """Simulated time of each frame, s, by its number."""
        return dict(self._native.times())

    def elements(self, *, columns: Sequence[str] | None = None) -> Table:
        """Elements at rest."""
        return self._packing("elements", columns)

    def bonds(self, *, columns: Sequence[str] | None = None) -> Table:
        """Bonds at rest."""
        return self._packing("bonds", columns)

    def cells(self, *, columns: Sequence[str] | None = None) -> Table:
        """Moments of the elements that are cells; empty if there are none."""
        return self._packing("cells", columns)

    def faces(self, *, columns: Sequence[str] | None = None) -> Table:
        """Faces of cells at rest; empty if there are none."""
        return self._packing("faces", columns)

    def frames(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row an element and frame: position, rotation, velocity, fragment, stress."""
        return self._numbered("frames", frames, columns)

    def breaks(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row a bond that broke since the frame before."""
        return self._numbered("breaks", frames, columns)

    def fragments(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row a fragment and frame."""
        return self._numbered("fragments", frames, columns)

    def history(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row a frame: step, energies, momentum, counts, wall time."""
        return self._numbered("history", frames, columns)

    def loads(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row a collider or attachment, and frame."""
        return self._numbered("loads", frames, columns)

    def convergence(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row an iteration of a method, in the frame after the step that `output.convergence` names."""
        return self._numbered("convergence", frames, columns)

    def sleep(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row an event: a fragment falls asleep, wakes or rests."""
        return self._numbered("sleep", frames, columns)

    def stress(self, frames: FrameNumbers = None, *, columns: Sequence[str] | None = None) -> Table:
        """One row a surface triangle and an element: stress at rest, by boundary elements."""
        return self._numbered("stress", frames, columns)

    def surface(self, frame: int) -> Surface:
        """The surfaces of the fragments in a frame, which `reconstruct` wrote."""
        return Surface(self._native.surface(_frame(frame)))

    def surfaces(self, frames: FrameNumbers = None) -> Iterator[Surface]:
        """The surfaces of frames, one after the other."""
        numbers = _chosen(frames, self.surface_numbers)
        return (self.surface(number) for number in numbers)

    def _packing(self, name: str, columns: Sequence[str] | None) -> Table:
        place = f"packing/{name}"
        absent = name in ("cells", "faces") and not (self.path / f"{place}.parquet").exists()
        return self._table(place, [] if absent else None, columns)

    def _numbered(self, kind: str, frames: FrameNumbers, columns: Sequence[str] | None) -> Table:
        there = [] if isinstance(frames, SupportsIndex) else self._native.numbers(kind, "parquet")
        return self._table(kind, _chosen(frames, there), columns)

    def _table(self, place: str, frames: list[int] | None, columns: Sequence[str] | None) -> Table:
        if isinstance(columns, str):
            raise BadInput(f"columns: a list of names is expected, not the string {columns!r}")
        names = None if columns is None else list(columns)
        if names is not None and (not names or len(set(names)) < len(names)):
            raise BadInput(f"columns: {names} is empty or names a column twice")
        return Table(self._native.table(place, frames, names), place)


def _frame(frame: int) -> int:
    if not 0 <= frame < 2**32:
        raise BadInput(f"frame {frame}: frame numbers are at least 0")
    return frame


def _chosen(frames: FrameNumbers, there: list[int]) -> list[int]:
    """Numbers of frames. Those that are named one by one need not be there, and are missed when they are read."""
    if frames is None:
        return there
    if isinstance(frames, SupportsIndex):
        return [_frame(operator.index(frames))]
    if isinstance(frames, slice):
        last = there[-1] + 1 if there else 0
        begin, end, step = frames.start or 0, last if frames.stop is None else frames.stop, frames.step or 1
        if begin < 0 or end < 0 or step < 1:
            raise BadInput(f"frames: {frames} counts from the end; frame numbers are at least 0")
        wanted = range(begin, min(end, last), step)
        return [number for number in there if number in wanted]
    return [_frame(int(frame)) for frame in frames]
