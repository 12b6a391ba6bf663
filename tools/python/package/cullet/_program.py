"""Runs the program `cullet` in a process of its own and follows its progress."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Callable, Optional

from ._errors import Error, by_exit_code
from ._find import find_program

SECONDS_BETWEEN_LOOKS = 0.2
"""How often a wait looks for signals on systems where a wait on a lock is not interrupted by them."""


@dataclass(frozen=True)
class Progress:
    """How far a stage is."""

    stage: str
    """Name of the stage, such as `simulate` or `export usd`."""
    done: int
    """Units of work that are done."""
    total: int
    """Units of work in all."""
    message: str
    """What is counted, and figures of the moment; when the stage has finished, its result."""
    seconds: float
    """Wall time since the stage began to report, s; when it has finished, its duration."""
    finished: bool = False
    """Whether the stage has finished."""

    def __str__(self) -> str:
        """One line, for `on_progress=print`."""
        if self.finished:
            return f"{self.stage:<12} {self.message}  ({self.seconds:.1f} s)"
        return f"{self.stage:<12} {self.done}/{self.total} {self.message}"


OnProgress = Optional[Callable[[Progress], object]]
OnNote = Optional[Callable[[str], object]]


@dataclass
class Output:
    """What a program printed."""

    text: str = ""
    """Standard output."""
    files: list[Path] = field(default_factory=list)
    """Files that the stages say they wrote."""
    exit_code: int = 0
    """Exit code."""

    def json(self) -> Any:  # noqa: ANN401
        """Standard output as JSON."""
        return json.loads(self.text)


_running: set[subprocess.Popen[str]] = set()
# A handler of a signal may call `interrupt` while this thread holds it.
_running_lock = threading.RLock()


def interrupt() -> int:
    """Interrupts all programs that this process runs, in any thread, as Ctrl-C does.

    A simulation finishes its frame and can be resumed. The calls that wait for them raise `Interrupted`. Returns the
    number of programs.
    """
    with _running_lock:
        programs = list(_running)
    for program in programs:
        _signal(program)
    return len(programs)


def invoke(
    arguments: Sequence[str],
    *,
    text: str | None = None,
    folder: Path | None = None,
    threads: int | None = None,
    on_progress: OnProgress = None,
    on_note: OnNote = None,
    allowed: Sequence[int] = (0,),
) -> Output:
    """Runs the program and waits for it.

    `text` is its standard input, `folder` its working folder, `allowed` the exit codes that are no errors. An exception
    of a callback, and a KeyboardInterrupt, interrupt the program, and are raised once it has ended.
    """
    command = [str(find_program()), "--json"]
    if threads is not None:
        command += ["--threads", str(threads)]
    command += arguments
    follower = _Follower(on_progress, on_note)
    program = _start(command, text, folder)
    try:
        with _running_lock:
            _running.add(program)
        try:
            follower.follow(program, text)
        except BaseException:
            _stop(program)
            raise
    finally:
        with _running_lock:
            _running.discard(program)
        for stream in (program.stdout, program.stderr, program.stdin):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
    follower.output.exit_code = program.returncode
    if program.returncode not in allowed:
        raise follower.error(program.returncode)
    return follower.output


def _start(command: list[str], text: str | None, folder: Path | None) -> subprocess.Popen[str]:
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    # In a group of its own: a terminal sends Ctrl-C to the whole group of Python, and the program must get it once.
    windows = sys.platform == "win32"
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) if windows else 0
    try:
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            start_new_session=not windows,
            creationflags=flags,
        )
    except OSError as error:
        raise Error(f"{command[0]}: {error.strerror or error}") from error


def _signal(program: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        program.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))


def _stop(program: subprocess.Popen[str]) -> None:
    """Interrupts a program and waits until it has ended; each further Ctrl-C is passed on."""
    _signal(program)
    while True:
        try:
            while program.poll() is None:
                time.sleep(SECONDS_BETWEEN_LOOKS / 4)
            return
        except KeyboardInterrupt:
            _signal(program)


class _Follower:
    """Reads what a program prints, and passes its events on in the calling thread."""

    def __init__(self, on_progress: OnProgress, on_note: OnNote) -> None:
        self.output = Output()
        self.on_progress = on_progress
        self.on_note = on_note
        self.message: str | None = None
        self.other_lines: list[str] = []
        self.began: dict[str, float] = {}
        self.counts: dict[str, tuple[int, int]] = {}

    def follow(self, program: subprocess.Popen[str], text: str | None) -> None:
        """Passes events on until the program has ended."""
        lines: queue.Queue[str | None] = queue.Queue()
        printed: list[str] = []
        assert program.stdout is not None and program.stderr is not None
        readers = [
            threading.Thread(target=_read_lines, args=(program.stderr, lines), daemon=True),
            threading.Thread(target=_read_all, args=(program.stdout, printed), daemon=True),
        ]
        for reader in readers:
            reader.start()
        if text is not None and program.stdin is not None:
            # A program that ends before it has read everything says why itself.
            with contextlib.suppress(BrokenPipeError):
                program.stdin.write(text)
                program.stdin.close()
        while True:
            try:
                line = lines.get(timeout=SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                continue
            if line is None:
                break
            self.take(line.rstrip("\n"))
        while program.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(timeout=SECONDS_BETWEEN_LOOKS)
        readers[1].join()
        self.output.text = "".join(printed)

    def take(self, line: str) -> None:
        """Passes one line on."""
        event = _event(line)
        if event is None:
            self.other_lines.append(line)
        elif "error" in event:
            self.message = event["error"]
        elif "note" in event:
            if self.on_note is not None:
                self.on_note(event["note"])
        elif "files" in event:
            self.output.files += [Path(file) for file in event["files"]]
        elif "stage" in event and self.on_progress is not None:
            self.on_progress(self.progress(event))

    def progress(self, event: dict[str, Any]) -> Progress:
        """An event of a stage."""
        stage = event["stage"]
        began = self.began.setdefault(stage, time.monotonic())
        if "seconds" in event:
            _, total = self.counts.get(stage, (1, 1))
            return Progress(stage, total, total, event["result"], event["seconds"], finished=True)
        self.counts[stage] = (event["done"], event["total"])
        return Progress(stage, event["done"], event["total"], event["message"], time.monotonic() - began)

    def error(self, code: int) -> Error:
        """The exception for the exit code of the program."""
        if self.message is not None:
            return by_exit_code(code, self.message)
        said = "\n".join(line for line in self.other_lines if line).removeprefix("error: ")
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = str(-code)
            hint = ": the system may have run out of memory" if name == "SIGKILL" else ""
            return by_exit_code(code, f"cullet was ended by {name}{hint}" + (f"\n{said}" if said else ""))
        return by_exit_code(code, said or f"cullet ended with exit code {code}")


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def _read_lines(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    try:
        for line in stream:
            lines.put(line)
    except ValueError:  # closed after an interrupt
        pass
    finally:
        lines.put(None)


def _read_all(stream: IO[str], printed: list[str]) -> None:
    with contextlib.suppress(ValueError):
        printed.append(stream.read())


def replace_by_program(arguments: Sequence[str]) -> int:
    """Runs the program with these arguments in place of Python, where the system can do that."""
    program = str(find_program())
    if os.name == "posix":
        os.execv(program, [program, *arguments])
    return subprocess.run([program, *arguments], check=False).returncode
