"""Turns values of Python into arguments of the program."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

from ._errors import BadInput, by_exit_code
from ._table import inline, to_toml
from .spec import Pipeline

if TYPE_CHECKING:
    from .store import Store

PathLike = Union[str, "os.PathLike[str]"]
PipelineLike = Union[str, "os.PathLike[str]", Mapping[str, Any], Pipeline]
StoreLike = Union[str, "os.PathLike[str]", "Store"]
Frames = Union[SupportsIndex, range, slice, str]
Settings = Union[Mapping[str, Any], Sequence[str]]

STANDARD_INPUT = re.compile(r"standard input(:\d+:\d+)?: ")
"""The place that the program names in messages about a pipeline that it was fed."""


@dataclass
class Fed:
    """A pipeline as the program gets it."""

    argument: str
    """File, or - for standard input."""
    text: str | None = None
    """Standard input."""
    folder: Path | None = None
    """Working folder."""

    def path(self, path: PathLike) -> str:
        """A path that means the same in the program's working folder."""
        return os.fspath(path) if self.folder is None else str(Path(path).absolute())

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Within, messages about a pipeline without a file name no line of it, but key and value alone."""
        try:
            yield
        except BadInput as error:
            if self.text is None:
                raise
            message = STANDARD_INPUT.sub("pipeline: ", str(error))
            raise by_exit_code(error.exit_code, message) from None


def feed(pipeline: PipelineLike, base: PathLike | None) -> Fed:
    """A pipeline as the program gets it; `base` is the folder of relative paths in one that is no file."""
    if isinstance(pipeline, (str, os.PathLike)):
        if base is not None:
            raise BadInput("base is for a pipeline that is a dict; paths in a file are relative to that file")
        path = os.fspath(pipeline)
        return Fed(f".{os.sep}-" if path == "-" else path)
    table = pipeline.to_dict() if isinstance(pipeline, Pipeline) else pipeline
    try:
        text = to_toml(table)
    except TypeError as error:
        raise BadInput(f"pipeline: {error}") from None
    folder = Path.cwd() if base is None else Path(base).absolute()
    if not folder.is_dir():
        raise BadInput(f"base {os.fspath(base or folder)}: no such folder")
    return Fed("-", text, folder)


def store_path(store: StoreLike) -> str:
    """Folder of a store."""
    if isinstance(store, (str, os.PathLike)):
        return os.fspath(store)
    return str(store.path)


def frame_range(frames: Frames) -> str:
    """Frames as `--frames` takes them."""
    if isinstance(frames, str):
        return frames
    if isinstance(frames, SupportsIndex):
        return str(operator.index(frames))
    if frames.step not in (None, 1):
        raise BadInput(f"frames: {frames} leaves frames out; the step must be 1")
    start, stop = frames.start, frames.stop
    if (start or 0) < 0 or (stop or 0) < 0:
        raise BadInput(f"frames: {frames} counts from the end; frame numbers must be at least 0")
    return f"{'' if start is None else start}..{'' if stop is None else stop}"


def options(**values: Any) -> list[str]:  # noqa: ANN401
    """Options of the command line by their names in Python; None leaves one out."""
    arguments = []
    for name, value in values.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(flag)
        else:
            # One word, so that a value may begin with a hyphen.
            arguments.append(f"{flag}={value}")
    return arguments


def settings(values: Settings | None) -> list[str]:
    """Overrides as `--set` takes them: strings as in the shell, all else as TOML."""
    if values is None:
        return []
    if isinstance(values, str):
        raise BadInput(f'set: a dict or a list of "KEY=VALUE" is expected, not the string {values!r}')
    if not isinstance(values, Mapping):
        return [f"--set={value}" for value in values]
    try:
        words = {key: value if isinstance(value, str) else inline(value, key) for key, value in values.items()}
    except TypeError as error:
        raise BadInput(f"set: {error}") from None
    return [f"--set={key}={value}" for key, value in words.items()]
