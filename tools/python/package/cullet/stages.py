"""The stages, one function a command of the program `cullet`.

Each runs the program in a process of its own and returns when it has ended. Keyword arguments have the names of the
options of the command line. Those that compute take `threads` (default: one a core), `on_progress`, which gets a
`Progress` at every step, and `on_note`, which gets notes and warnings as text. `on_progress=print` prints a line a
step.

They raise `BadInput` if something is wrong with what they are given, `Failed` if a run fails, both with the message of
the program. Ctrl-C, or an exception in `on_progress`, stops the program, which finishes its frame first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Union

from ._arguments import (
    Fed,
    Frames,
    PathLike,
    PipelineLike,
    Settings,
    StoreLike,
    feed,
    frame_range,
    options,
    settings,
    store_path,
)
from ._errors import BadInput
from ._program import OnNote, OnProgress, Output, invoke
from .store import Store

Stage = Literal["pack", "simulate", "stress", "reconstruct", "export", "preview"]
Format = Literal["usd", "usd-elements", "alembic", "glb", "glb-animated", "obj", "ply", "vtk"]
Quantity = Union[float, str]
"""A number in SI units, or a string with a unit such as "2 GPa"."""


def run(
    pipeline: PipelineLike,
    *,
    out: PathLike | None = None,
    base: PathLike | None = None,
    set: Settings | None = None,  # noqa: A002
    from_: Stage | None = None,
    to: Stage | None = None,
    force: bool = False,
    resume: bool = False,
    state: int | None = None,
    branch: PathLike | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> Store:
    """Runs all stages of a pipeline that are not up to date, and returns its store.

    `pipeline` is a file, a dict or a `Pipeline`; relative paths in one without a file are relative to `base` (default:
    the current folder). `out` is the folder of the store (default for a file: out/NAME). `set` overrides values:
    `{"scale": "smoke", "time.end": "5 ms"}`. `from_` and `to` are the first and last stage; `force` runs all. `resume`
    continues a simulation that was stopped, `state` one from the state of this frame, `branch` into a new store.
    """
    fed = feed(pipeline, base)
    folder = _out(fed, out)
    arguments = ["run", *options(out=folder, from_=from_, to=to, force=force, resume=resume, state=state)]
    if branch is not None:
        arguments += options(branch=fed.path(branch))
    _invoke_fed(fed, [*arguments, *settings(set)], threads, on_progress, on_note)
    return Store(folder if branch is None else branch)


def pack(
    pipeline: PipelineLike,
    *,
    out: PathLike,
    base: PathLike | None = None,
    set: Settings | None = None,  # noqa: A002
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> Store:
    """Fills the bodies of a pipeline with bonded elements; the store `out` is created if absent."""
    fed = feed(pipeline, base)
    folder = _out(fed, out)
    _invoke_fed(fed, ["pack", *options(out=folder), *settings(set)], threads, on_progress, on_note)
    return Store(folder)


def simulate(
    store: StoreLike,
    *,
    resume: bool = False,
    state: int | None = None,
    branch: PathLike | None = None,
    backend: Literal["auto", "cpu", "gpu"] | None = None,
    adapter: str | None = None,
    until: Quantity | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> Store:
    """Integrates a packed store in time, with fracture.

    `resume` continues from the newest state, `state` from that of this frame (later frames are removed), `branch` in a
    new store, which is returned. `until` ends with the last whole frame up to this time.
    """
    arguments = options(resume=resume, state=state, branch=branch, backend=backend, adapter=adapter, until=until)
    _invoke(["simulate", *arguments, "--", store_path(store)], threads, on_progress, on_note)
    return Store(store_path(store) if branch is None else branch)


def stress(
    target: PipelineLike | StoreLike,
    *,
    frames: Frames | None = None,
    out: PathLike | None = None,
    base: PathLike | None = None,
    set: Settings | None = None,  # noqa: A002
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> dict[str, Any]:
    """Computes the stress under static loads by boundary elements: where bodies would crack, and how near they are.

    `target` is a store with a packing, or a pipeline, whose bodies are packed first. `frames` takes the loads that
    these frames of a simulation recorded. Returns `bodies`, a verdict each, and `left_out`, bodies that were broken.
    `Store.stress` is the table.
    """
    arguments = [*options(frames=None if frames is None else frame_range(frames)), *settings(set)]
    fed = Fed(store_path(target)) if isinstance(target, Store) else feed(target, base)
    if fed.text is not None:
        out = _out(fed, out)
    arguments = ["stress", *arguments, *options(out=out)]
    found: dict[str, Any] = _invoke_fed(fed, arguments, threads, on_progress, on_note).json()
    return found


def reconstruct(
    store: StoreLike,
    *,
    frames: Frames | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> Store:
    """Rebuilds the surfaces of the fragments, of all frames or of `frames`; `Store.surface` reads them."""
    arguments = options(frames=None if frames is None else frame_range(frames))
    _invoke(["reconstruct", *arguments, "--", store_path(store)], threads, on_progress, on_note)
    return Store(store_path(store))


def export(
    store: StoreLike,
    format: Format,  # noqa: A002
    *,
    frames: Frames | None = None,
    usd: Literal["usdc", "usda", "usdz"] | None = None,
    compress: bool | None = None,
    up: Literal["y", "z"] | None = None,
    scale: float | None = None,
    playback: Quantity | None = None,
    shutter: tuple[float, float] | None = None,
    debris_size: Quantity | None = None,
    triangles: int | None = None,
    error: Quantity | None = None,
    pixels: float | None = None,
    picture_height: int | None = None,
    eye: Sequence[float] | None = None,
    fov: Quantity | None = None,
    to: PathLike | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> list[Path]:
    """Exports surfaces to renderers; returns the files.

    `to` is the target file or folder (default: inside the store). The other options default to those of the pipeline's
    table `export`: `scale`, length units of the files per metre; `playback`, the rate at which hosts play the frames,
    or "event"; `shutter`, times at which a shutter opens and closes, in frames; `debris_size`, below which fragments
    become instances in USD.

    `triangles`, `error` or `pixels` limit how detailed surfaces are: the triangles of all fragments in a frame, the
    distance from the full surface, or that distance in pixels of a picture, `picture_height` high, by a camera at `eye`
    with the vertical angle of view `fov`.
    """
    arguments = options(
        format=format,
        frames=None if frames is None else frame_range(frames),
        usd=usd,
        compress=None if compress is None else str(compress).lower(),
        up=up,
        scale=scale,
        playback=playback,
        shutter=None if shutter is None else ",".join(map(str, shutter)),
        debris_size=debris_size,
        triangles=triangles,
        error=error,
        pixels=pixels,
        picture_height=picture_height,
        eye=None if eye is None else ",".join(map(str, eye)),
        fov=fov,
        to=to,
    )
    return _invoke(["export", *arguments, "--", store_path(store)], threads, on_progress, on_note).files


def preview(
    store: StoreLike,
    *,
    frames: Frames | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> list[Path]:
    """Draws a PNG a frame and one contact sheet; returns the files."""
    arguments = options(frames=None if frames is None else frame_range(frames))
    return _invoke(["preview", *arguments, "--", store_path(store)], threads, on_progress, on_note).files


def plot(
    store: StoreLike,
    *,
    format: Literal["svg", "png"] | None = None,  # noqa: A002
    frames: Frames | None = None,
    to: PathLike | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> list[Path]:
    """Draws charts: energies, breaks, masses of fragments and others; returns the files (default: SVG and PNG)."""
    arguments = options(format=format, frames=None if frames is None else frame_range(frames), to=to)
    return _invoke(["plot", *arguments, "--", store_path(store)], threads, on_progress, on_note).files


def jobs(
    store: StoreLike,
    for_: Literal["openjd", "slurm", "snakemake", "opencue", "flamenco"],
    *,
    stage: Stage | Sequence[Stage] | None = None,
    chunk: int | None = None,
    frames: Frames | None = None,
    format: Format | Sequence[Format] | None = None,  # noqa: A002
    cores: int | None = None,
    program: PathLike | None = None,
    name: str | None = None,
    show: str | None = None,
    user: str | None = None,
    out: PathLike | None = None,
) -> str:
    """Stages of a shot as a job for a render farm; returns its text, or writes it to the new file `out`.

    `stage` are the stages in their order, by default reconstruct alone, whose frames are spread over tasks of at most
    `chunk` frames. `program` is where machines of the farm find cullet.
    """
    arguments = options(
        for_=for_,
        stage=stage if stage is None or isinstance(stage, str) else ",".join(stage),
        chunk=chunk,
        frames=None if frames is None else frame_range(frames),
        format=format if format is None or isinstance(format, str) else ",".join(format),
        cores=cores,
        program=program,
        name=name,
        show=show,
        user=user,
        out=out,
    )
    return invoke(["jobs", *arguments, "--", store_path(store)]).text


def inspect(store: StoreLike) -> dict[str, Any]:
    """What is in a store: counts, energies, breaks, fragments, loads, wall time, disk."""
    found: dict[str, Any] = invoke(["inspect", "--", store_path(store)]).json()
    return found


def validate(store: StoreLike) -> list[dict[str, Any]]:
    """Missing and wrong data of a store: `file`, `column`, `row` and `what` of each; an empty list if it is valid."""
    found: list[dict[str, Any]] = invoke(["inspect", "--validate", "--", store_path(store)], allowed=(0, 1)).json()
    return found


def check(
    pipeline: PipelineLike,
    *,
    base: PathLike | None = None,
    set: Settings | None = None,  # noqa: A002
    threads: int | None = None,
) -> dict[str, Any]:
    """Checks a pipeline without running it: elements, steps, time step, memory, disk, time, warnings."""
    fed = feed(pipeline, base)
    found: dict[str, Any] = _invoke_fed(fed, ["check", *settings(set)], threads, None, None).json()
    return found


def check_mesh(
    mesh: PathLike,
    *,
    out: PathLike | None = None,
    cell: float | None = None,
    winding: bool = False,
    threads: int | None = None,
) -> dict[str, Any]:
    """Checks a mesh: its faults, where they are, and how it is repaired; `out` is a PLY file for the repaired mesh.

    `cell` is the edge of the cells by which open surfaces are wrapped, in units of the file; `winding` repairs it as
    `fill = "winding"` does.
    """
    arguments = ["check", *options(mesh=mesh, out=out, cell=cell, winding=winding)]
    found: dict[str, Any] = invoke(arguments, threads=threads).json()
    return found


def calibrate(
    pipeline: PipelineLike,
    *,
    out: PathLike,
    base: PathLike | None = None,
    body: str | None = None,
    across: float | None = None,
    young: Quantity | None = None,
    poisson: float | None = None,
    tensile_strength: Quantity | None = None,
    compressive_strength: Quantity | None = None,
    toughness: Quantity | None = None,
    set: Settings | None = None,  # noqa: A002
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> dict[str, Any]:
    """Finds the values to enter for a material so that the packing of a body has the moduli and strengths asked for.

    `out` is a folder for the values found, the curves and a chart. `body` is needed if there are several; `across` is
    the number of elements across a specimen. What is not asked for is taken from the material. Returns `asked`,
    `found`, `not_reached`, `enter` and `files`.
    """
    fed = feed(pipeline, base)
    arguments = options(
        out=fed.path(out),
        body=body,
        across=across,
        young=young,
        poisson=poisson,
        tensile_strength=tensile_strength,
        compressive_strength=compressive_strength,
        toughness=toughness,
    )
    output = _invoke_fed(fed, ["calibrate", *arguments, *settings(set)], threads, on_progress, on_note)
    found: dict[str, Any] = output.json()
    return found


def adapters() -> list[dict[str, Any]]:
    """Graphics adapters, their limits, and what each lacks."""
    found: list[dict[str, Any]] = invoke(["adapters"]).json()
    return found


def schema() -> dict[str, Any]:
    """JSON Schema of pipeline files."""
    found: dict[str, Any] = invoke(["schema"]).json()
    return found


def _out(fed: Fed, out: PathLike | None) -> str:
    if out is not None:
        return fed.path(out)
    if fed.text is not None:
        raise BadInput("out is missing: a pipeline without a file has no name to derive it from")
    return str(Path("out") / Path(fed.argument).stem)


def _invoke(arguments: Sequence[str], threads: int | None, on_progress: OnProgress, on_note: OnNote) -> Output:
    return invoke(arguments, threads=threads, on_progress=on_progress, on_note=on_note)


def _invoke_fed(
    fed: Fed, arguments: Sequence[str], threads: int | None, on_progress: OnProgress, on_note: OnNote
) -> Output:
    with fed.errors():
        return invoke(
            [*arguments, "--", fed.argument],
            text=fed.text,
            folder=fed.folder,
            threads=threads,
            on_progress=on_progress,
            on_note=on_note,
        )
