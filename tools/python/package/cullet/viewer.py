"""The viewer: frames of stores in a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from html import escape
from pathlib import Path
from types import TracebackType

from ._arguments import Frames, PathLike, StoreLike, frame_range, options, store_path
from ._errors import by_exit_code
from ._find import find_program
from ._program import OnNote, OnProgress, invoke

SECONDS_TO_END = 5.0
"""How long the server may take to end."""


class Viewer:
    """A server of `cullet view` and the address of its page.

    It ends with `close`, at the end of a `with` block, or with Python.
    """

    url: str
    """Address of the page, `http://127.0.0.1:PORT/`. Only this machine can open it."""

    def __init__(self, arguments: list[str]) -> None:
        """Starts `cullet view` with these arguments; `view` makes them."""
        command = [str(find_program()), "--json", "view", "--until-input-ends", *arguments]
        # Ctrl-C at a prompt of Python must not end the viewer. It ends with its input, however Python ends.
        program = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=sys.platform != "win32",
        )
        self._end = weakref.finalize(self, _end, program)
        assert program.stdout is not None and program.stderr is not None
        line = program.stdout.readline()
        if not line:
            said = program.stderr.read()
            raise by_exit_code(program.wait(), _message(said))
        self.url = json.loads(line)["url"]
        threading.Thread(target=program.stderr.read, daemon=True).start()

    def close(self) -> None:
        """Ends the server."""
        self._end()

    def __enter__(self) -> Viewer:
        """The viewer itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Ends the server."""
        self.close()

    def __repr__(self) -> str:
        """The address, or that the server has ended."""
        return f"Viewer({self.url!r})" if self._end.alive else "Viewer(closed)"

    def _repr_html_(self) -> str:
        """A link, for notebooks."""
        if not self._end.alive:
            return "viewer, closed"
        return f'<a href="{escape(self.url)}" target="_blank">{escape(self.url)}</a>'


def view(*stores: StoreLike, port: int = 0, open: bool = False) -> Viewer:  # noqa: A002
    """Shows one store, or two side by side, in a browser; also while a simulation runs.

    `port` is that of the page's address (0: any that is free). `open` opens the page in the browser.
    """
    return Viewer([*options(port=port, open=open), "--", *map(store_path, stores)])


def view_page(
    *stores: StoreLike,
    to: PathLike,
    frames: Frames | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
) -> Path:
    """Writes the page of the viewer into the HTML file `to`, with these frames (default: all). Returns the file.

    The page needs neither cullet nor the stores. It suits small shots.
    """
    chosen = None if frames is None else frame_range(frames)
    arguments = ["view", *options(export=os.fspath(to), frames=chosen), "--", *map(store_path, stores)]
    invoke(arguments, on_progress=on_progress, on_note=on_note)
    return Path(to)


def _message(said: str) -> str:
    """The message of a program that ended."""
    for line in said.splitlines():
        if line.startswith('{"error"'):
            return str(json.loads(line)["error"])
    return said.strip().removeprefix("error: ") or "cullet view ended"


def _end(program: subprocess.Popen[str]) -> None:
    if program.stdin is not None:
        program.stdin.close()
    program.terminate()
    try:
        program.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    if program.stdout is not None:
        program.stdout.close()
